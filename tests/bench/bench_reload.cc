// What a reload of many checks costs: reading them, planning the way, going it.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/agent.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "net/asio_runtime.h"
#include "observe/kinds.h"
#include "runtime/task.h"

namespace wardmote {
namespace {

/// `count` checks, of which every hundredth has `port`.
std::string many_checks(std::size_t count, int port) {
  std::string yaml = "api: {socket: /tmp/wardmote-bench.sock}\nchecks:\n";
  for (std::size_t i = 0; i < count; ++i) {
    yaml += fmt::format("  - {{name: check-{}, tcp: {{address: 127.0.0.1:{}}}, every: 1h}}\n", i,
                        i % 100 == 0 ? port : 1);
  }
  return yaml;
}

config::Config parse(const std::string& yaml) {
  return *config::parse_config(yaml, observe::probe_kinds());
}

void read_configuration(benchmark::State& state) {
  const std::string yaml = many_checks(static_cast<std::size_t>(state.range(0)), 2);
  for (auto _ : state) benchmark::DoNotOptimize(parse(yaml));
}
BENCHMARK(read_configuration)->Arg(100)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void plan_the_way(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto from = parse(many_checks(count, 2));
  const auto to = parse(many_checks(count, 3));
  for (auto _ : state) benchmark::DoNotOptimize(config::plan_reload(from, to));
}
BENCHMARK(plan_the_way)->Arg(100)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// From the plan to everything that runs, a hundredth of it changed.
runtime::Task<bool> go_over(benchmark::State* state, agent::Agent* agent, std::size_t count) {
  if (!agent->start()) state->SkipWithError("the agent does not start");
  int port = 2;
  for (auto _ : *state) {
    state->PauseTiming();
    auto next = parse(many_checks(count, port = 5 - port));
    state->ResumeTiming();
    if (!agent->reload(std::move(next))) state->SkipWithError("the reload is refused");
  }
  co_await agent->stop();
  co_return true;
}

void apply_reload(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  net::AsioRuntime runtime;
  const agent::ServiceManager service("", std::nullopt);
  agent::Agent agent(runtime, service, parse(many_checks(count, 4)), "bench");
  net::run_task(runtime, go_over(&state, &agent, count));
}
BENCHMARK(apply_reload)->Arg(100)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace wardmote

BENCHMARK_MAIN();
