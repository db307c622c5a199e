// One snapshot of a real OVN raft member, asked in three ways that take turns in one run:
//   exec   `ovsdb-client query` and `ovn-appctl cluster/status` as processes, output read and
//   thrown away (no parsing) fresh  natively, connecting anew each time, with parsing and with
//   judging the whole cluster of three kept   the same over connections that stay open
// usage: bench_ovn_snapshot DATABASE OVSDB_CLIENT OVN_APPCTL CTL,SOCK CTL,SOCK CTL,SOCK
// Prints one JSON line for each way and round: CPU of the client side and wall time, in
// microseconds a snapshot.

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "net/asio_runtime.h"
#include "observe/ovn/cluster.h"
#include "observe/ovn/member.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kExecs = 60;
constexpr int kSnapshots = 3000;
constexpr Duration kTimeout = 2s;

double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

/// User and system time of this process and of its finished children.
double cpu_us() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  }
  return total;
}

struct Way {
  std::string_view name;
  int snapshots;
  std::function<bool()> snapshot;
};

void measure(int round, const Way& way) {
  std::vector<double> walls;
  const double cpu_before = cpu_us();
  for (int i = 0; i < way.snapshots; ++i) {
    const auto begun = steady_clock::now();
    if (!way.snapshot()) {
      fmt::print(stderr, "bench_ovn_snapshot: a snapshot by '{}' failed\n", way.name);
      std::exit(1);
    }
    walls.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - begun).count());
  }
  const double cpu = (cpu_us() - cpu_before) / way.snapshots;
  std::ranges::sort(walls);
  fmt::print(
      R"({{"way":"{}","round":{},"snapshots":{},"cpu_us":{:.2f},"wall_p50_us":{:.2f},"wall_p99_us":{:.2f}}})"
      "\n",
      way.name, round, way.snapshots, cpu, walls[walls.size() / 2], walls[walls.size() * 99 / 100]);
  std::fflush(stdout);
}

/// Runs a program to its end and reads all it prints, as cheaply as a caller can.
bool run(const std::vector<std::string>& argv) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return false;
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = vfork();
  if (child == 0) {
    dup2(pipe_ends[1], STDOUT_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  char buffer[8192];
  while (read(pipe_ends[0], buffer, sizeof buffer) > 0) {
  }
  close(pipe_ends[0]);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// Looks at one member and judges the cluster with what the other members said at the start.
class Native {
 public:
  Native(net::AsioRuntime& runtime, std::vector<observe::ovn::MemberTarget> targets,
         unsigned fresh_every)
      : runtime_(runtime),
        member_(runtime, with(targets.front(), fresh_every)),
        cluster_(runtime, targets) {
    expectation_.database = targets.front().database;
    expectation_.replicas = targets.size();
    opinions_ = net::run_task(runtime_, cluster_.look_all(runtime_.deadline_in(kTimeout)));
  }

  bool snapshot() {
    opinions_.front() = net::run_task(runtime_, member_.look(runtime_.deadline_in(kTimeout)));
    const judge::raft::Assessment assessment =
        judge::raft::assess(opinions_, expectation_, memory_, runtime_.now());
    return opinions_.front().status && opinions_.front().local &&
           assessment.quorum.live == opinions_.size();
  }

 private:
  static observe::ovn::MemberTarget with(observe::ovn::MemberTarget target, unsigned fresh_every) {
    target.options.fresh_every = fresh_every;
    return target;
  }

  net::AsioRuntime& runtime_;
  observe::ovn::Member member_;
  observe::ovn::Cluster cluster_;
  judge::raft::Expectation expectation_;
  judge::raft::Memory memory_;
  std::vector<judge::raft::Opinion> opinions_;
};

int compare(std::span<char*> arguments) {
  const std::string database = arguments[1];
  std::vector<observe::ovn::MemberTarget> targets;
  for (std::size_t i = 4; i < arguments.size(); ++i) {
    std::string_view rest = arguments[i];
    observe::ovn::MemberTarget target;
    target.name = fmt::format("m{}", i - 3);
    target.database = database;
    target.control = runtime::Endpoint::unix_socket(std::string(take_until(rest, ',')));
    target.ovsdb = runtime::Endpoint::unix_socket(std::string(rest));
    targets.push_back(std::move(target));
  }
  net::AsioRuntime runtime;
  Native fresh(runtime, targets, 1);
  Native kept(runtime, targets, 1'000'000);
  const std::string query =
      fmt::format(R"(["_Server",{{"op":"select","table":"Database","where":[["name","==","{}"]],)"
                  R"("columns":["leader","connected","cid","sid","index"]}}])",
                  database);
  const std::vector<std::string> client{arguments[2], "query",
                                        "unix:" + targets.front().ovsdb->path, query};
  const std::vector<std::string> appctl{arguments[3], "-t", targets.front().control->path,
                                        "cluster/status", database};
  const Way ways[] = {{"exec", kExecs, [&] { return run(client) && run(appctl); }},
                      {"fresh", kSnapshots, [&] { return fresh.snapshot(); }},
                      {"kept", kSnapshots, [&] { return kept.snapshot(); }}};
  for (int round = 1; round <= kRounds; ++round) {
    for (const Way& way : ways) measure(round, way);
  }
  return 0;
}

}  // namespace
}  // namespace wardmote

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: bench_ovn_snapshot DATABASE OVSDB_CLIENT OVN_APPCTL CTL,SOCK...\n");
    return 64;
  }
  return wardmote::compare({argv, static_cast<std::size_t>(argc)});
}
