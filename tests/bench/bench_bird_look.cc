// One look at a real BIRD, asked in ways that take turns in one run:
//   exec    birdc or birdcl as a process: `show protocols`, its output thrown away
//   fresh   natively, connecting anew each time: `restrict`, `show status`, `show protocols`,
//   parsed
//           and judged
//   kept    the same over a connection that stays open, as the agent does
//   all     the same with `show protocols all`
//   health  `wardmote calico-health --bird-ready` as a process
// usage: bench_bird_look CONTROL CLIENT WARDMOTE ROOT
// Prints one JSON line for each way and round: CPU of the client side and wall time, in
// microseconds a look.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "bench/clocks.h"
#include "judge/bgp/policy.h"
#include "judge/outcome.h"
#include "net/asio_runtime.h"
#include "observe/bird/bird_probe.h"
#include "observe/bird/client.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using bench::cpu_us;
using bench::since;
using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kExecs = 100;
constexpr int kLooks = 3000;
constexpr Duration kTimeout = 2s;

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "bench_bird_look: {}\n", what);
  std::exit(1);
}

using Walls = std::vector<double>;

struct Way {
  std::string_view name;
  int count;
  std::function<Walls(int count)> take;
};

void measure(int round, const Way& way) {
  const double cpu_before = cpu_us();
  Walls walls = way.take(way.count);
  const double cpu = (cpu_us() - cpu_before) / way.count;
  std::ranges::sort(walls);
  fmt::print(
      R"({{"way":"{}","round":{},"looks":{},"cpu_us":{:.2f},"wall_p50_us":{:.2f},"wall_p99_us":{:.2f}}})"
      "\n",
      way.name, round, way.count, cpu, walls[walls.size() / 2], walls[walls.size() * 99 / 100]);
  std::fflush(stdout);
}

/// Runs a program to its end and reads all it prints, as cheaply as a caller can.
Walls run(const std::vector<std::string>& argv, int count) {
  Walls walls;
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  for (int i = 0; i < count; ++i) {
    const auto begun = steady_clock::now();
    int ends[2];
    if (pipe(ends) != 0) give_up("pipe");
    const pid_t child = vfork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    char buffer[8192];
    while (read(ends[0], buffer, sizeof buffer) > 0) {
    }
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      give_up(argv.front() + " failed");
    walls.push_back(since(begun));
  }
  return walls;
}

runtime::Task<Walls> looks(runtime::Runtime* runtime, observe::Probe* probe, int count) {
  Walls walls;
  for (int i = 0; i < count; ++i) {
    const auto begun = steady_clock::now();
    const judge::Observation seen = co_await probe->look(runtime->deadline_in(kTimeout));
    if (seen.outcome != judge::Outcome::kOk) give_up(seen.reason.text);
    walls.push_back(since(begun));
  }
  co_return walls;
}

int compare(std::string control, std::string client, std::string wardmote, std::string root) {
  const std::vector<std::string> health{std::move(wardmote), "calico-health", "--bird-ready",
                                        "--root", std::move(root)};
  net::AsioRuntime runtime;
  const std::vector<runtime::Endpoint> at{runtime::Endpoint::unix_socket(control)};
  const auto probe = [&](unsigned fresh_every, bool detailed) {
    return std::make_unique<observe::bird::BirdProbe>(
        runtime, "bird", at,
        observe::bird::ClientOptions{
            .fresh_every = fresh_every, .detailed = detailed, .limits = {}},
        judge::bgp::Policy{});
  };
  const auto fresh = probe(1, false);
  const auto kept = probe(1'000'000, false);
  const auto all = probe(1'000'000, true);
  const auto native = [&](observe::Probe* one) {
    return
        [&runtime, one](int count) { return net::run_task(runtime, looks(&runtime, one, count)); };
  };
  const std::vector<std::string> exec{std::move(client), "-s", std::move(control), "show",
                                      "protocols"};
  const Way ways[] = {{"exec", kExecs, [&](int count) { return run(exec, count); }},
                      {"fresh", kLooks, native(fresh.get())},
                      {"kept", kLooks, native(kept.get())},
                      {"all", kLooks, native(all.get())},
                      {"health", kExecs, [&](int count) { return run(health, count); }}};
  for (int round = 1; round <= kRounds; ++round) {
    for (const Way& way : ways) measure(round, way);
  }
  return 0;
}

}  // namespace
}  // namespace wardmote

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_bird_look CONTROL CLIENT WARDMOTE ROOT\n");
    return 64;
  }
  return wardmote::compare(argv[1], argv[2], argv[3], argv[4]);
}
