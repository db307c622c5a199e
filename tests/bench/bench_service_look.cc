// One look at a real service under runit, in ways that take turns in one run:
//   exec   `sv status SERVICE` as a process, output thrown away
//   look   the probe: status, process and its supervisor in /proc, judgement
//   status the files that sv reads, without the process
// usage: bench_service_look SV SERVICE
// Prints one JSON line for each way and round: CPU of this process and its children, and wall time,
// in microseconds a look.

#include <fcntl.h>
#include <spawn.h>
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
#include <vector>

#include "base/format.h"
#include "bench/clocks.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/service/service.h"
#include "net/asio_runtime.h"
#include "observe/probe.h"
#include "observe/service/status_file.h"
#include "observe/service/supervised_probe.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using bench::cpu_us;
using bench::since;
using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kExecs = 100;
constexpr int kLooks = 20'000;

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "bench_service_look: {}\n", what);
  std::exit(1);
}

using Walls = std::vector<double>;

/// Takes so many looks one after the other; microseconds of each.
struct Way {
  std::string_view name;
  int count;
  std::function<Walls(int count)> take;
};

void exec_sv(std::string sv, std::string service) {
  std::string verb = "status";
  char* const argv[] = {sv.data(), verb.data(), service.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv, environ) != 0) give_up("no sv");
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) give_up("sv failed");
}

void measure(const Way& way, int round) {
  const double cpu = cpu_us();
  Walls walls = way.take(way.count);
  const double spent = (cpu_us() - cpu) / way.count;
  std::ranges::sort(walls);
  fmt::print(
      R"({{"way":"{}","round":{},"cpu_us":{:.2f},"wall_p50_us":{:.2f},"wall_p99_us":{:.2f}}})",
      way.name, round, spent, walls[walls.size() / 2], walls[walls.size() * 99 / 100]);
  fmt::print("\n");
}

/// One coroutine, as in the agent.
runtime::Task<void> look_often(runtime::Runtime* runtime, observe::Probe* probe, int count,
                               Walls* walls) {
  for (int i = 0; i < count; ++i) {
    const auto begun = steady_clock::now();
    const runtime::Deadline deadline = runtime->deadline_in(1s);
    const judge::Observation seen = co_await probe->look(deadline);
    if (seen.outcome != judge::Outcome::kOk) give_up(seen.reason.text);
    walls->push_back(since(begun));
  }
}

int run(const std::string& sv, const std::string& service) {
  net::AsioRuntime runtime;
  const auto probe = observe::service::make_runit_probe(runtime, "bench", {{"service", service}});
  if (!probe) give_up(probe.error().describe());
  observe::service::StatusFiles status(judge::Supervisor::kRunit, service);
  const auto each = [](const std::function<void()>& look) {
    return [look](int count) {
      Walls walls;
      for (int i = 0; i < count; ++i) {
        const auto begun = steady_clock::now();
        look();
        walls.push_back(since(begun));
      }
      return walls;
    };
  };
  const std::vector<Way> ways = {
      {"exec", kExecs, each([&] { exec_sv(sv, service); })},
      {"look", kLooks,
       [&](int count) {
         Walls walls;
         runtime.run(look_often(&runtime, probe->get(), count, &walls));
         return walls;
       }},
      {"status", kLooks, each([&] {
         if (!status.read(runtime.files(), runtime.wall_now())) give_up("no status");
       })},
  };
  for (int round = 0; round < kRounds; ++round) {
    for (const Way& way : ways) measure(way, round);
  }
  return 0;
}

}  // namespace
}  // namespace wardmote

int main(int argc, char** argv) {
  if (argc != 3) wardmote::give_up("usage: bench_service_look SV SERVICE");
  return wardmote::run(argv[1], argv[2]);
}
