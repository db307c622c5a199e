// What it costs to watch a thousand guests once a second, one in twenty of which hangs, and whether
// guests that come and go leave anything behind. The host is a fake one in the same process: its
// cost is in the numbers, that of libvirt is not.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/domains.h"
#include "agent/guests/guest_watch.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "bench/clocks.h"
#include "config/config.h"
#include "net/asio_runtime.h"
#include "observe/kinds.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"
#include "serve/guest/guest_view.h"
#include "sim/fake_hypervisor.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using sim::FakeHost;

constexpr int kChurn = 1000;  ///< guests that come and go in one turn

std::string uuid_of(int number) {
  return fmt::format("00000000-0000-4000-8000-{:012x}", number);
}

FakeHost*& current_host() {
  static FakeHost* host = nullptr;
  return host;
}

std::unique_ptr<agent::Domain> make_watch(const agent::DomainTools& tools) {
  return std::make_unique<agent::GuestWatch>(
      tools, [](runtime::Runtime& runtime, const config::Guests&) {
        return Result<std::unique_ptr<runtime::Hypervisor>>(
            std::make_unique<sim::FakeHypervisor>(runtime, *current_host()));
      });
}

agent::Domains domains() {
  static const std::vector<agent::DomainRow> kAll = [] {
    std::vector<agent::DomainRow> all(agent::domains().begin(), agent::domains().end());
    for (agent::DomainRow& row : all) {
      if (row.family == &serve::kGuestFamily) row.make = make_watch;
    }
    return all;
  }();
  return kAll;
}

/// Resident memory without what is shared, in MB.
double memory_mb() {
  ::malloc_trim(0);  // what is free is no growth
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  double shared = 0;
  file >> size >> resident >> shared;
  return (resident - shared) * 4096 / 1e6;
}

struct Measured {
  double before_mb = 0;
  double after_mb = 0;
  double cpu_percent = 0;
  double pings_per_second = 0;
  double churned_mb = 0;
};

runtime::Task<void> watch(net::AsioRuntime* runtime, FakeHost* host, agent::Agent* agent,
                          int guests, int turns, Measured* into) {
  if (!agent->start()) co_return;
  co_await runtime->sleep_until(runtime->now() + 1s);
  into->before_mb = memory_mb();
  for (int i = 1; i <= guests; ++i) host->start(uuid_of(i), fmt::format("instance-{:08x}", i));
  co_await runtime->sleep_until(runtime->now() + 10s);
  for (int i = 1; i <= guests / 20; ++i) host->set_agent(uuid_of(i), FakeHost::Agent::kHangs);
  co_await runtime->sleep_until(runtime->now() + 10s);
  const double cpu = bench::cpu_us();
  const auto begun = std::chrono::steady_clock::now();
  const std::uint64_t pings = host->pings();
  co_await runtime->sleep_until(runtime->now() + 20s);
  const double wall = bench::since(begun);
  into->cpu_percent = (bench::cpu_us() - cpu) / wall * 100;
  into->pings_per_second = static_cast<double>(host->pings() - pings) / wall * 1e6;
  into->after_mb = memory_mb();
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < kChurn; ++i)
      host->start(uuid_of(1'000'000 + i), fmt::format("short-lived-{}", i));
    co_await runtime->sleep_until(runtime->now() + 5s);
    for (int i = 0; i < kChurn; ++i) host->stop(uuid_of(1'000'000 + i), 0);
    co_await runtime->sleep_until(runtime->now() + 2s);
    if (turn == 0) into->after_mb = memory_mb();
  }
  into->churned_mb = memory_mb() - into->after_mb;
  co_await agent->stop();
}

void watch_guests(benchmark::State& state) {
  Measured measured;
  for (auto _ : state) {
    net::AsioRuntime runtime;
    FakeHost host(runtime);
    current_host() = &host;
    const agent::ServiceManager no_service("", std::nullopt);
    auto config = config::parse_config(
        "api: {socket: /tmp/wardmote-bench-guests.sock}\nguests: {every: 1s, timeout: 900ms}\n",
        observe::probe_kinds());
    agent::Agent agent(runtime, no_service, *std::move(config), "bench", {}, {}, domains());
    runtime.run(watch(&runtime, &host, &agent, static_cast<int>(state.range(0)),
                      static_cast<int>(state.range(1)), &measured));
  }
  state.counters["cpu_percent"] = measured.cpu_percent;
  state.counters["pings_per_second"] = measured.pings_per_second;
  state.counters["memory_mb"] = measured.after_mb - measured.before_mb;
  state.counters["growth_mb"] = measured.churned_mb;
}
BENCHMARK(watch_guests)
    ->Args({1000, 10})
    ->ArgNames({"guests", "thousands_that_come_and_go"})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace wardmote

BENCHMARK_MAIN();
