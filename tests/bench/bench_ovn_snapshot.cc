// One snapshot of a real OVN raft member, asked in ways that take turns in one run:
//   exec   `ovsdb-client query` and `ovn-appctl cluster/status` as processes, output thrown away
//   fresh  natively, connecting anew each time, with parsing and judging the cluster of three
//   kept   the same over connections that stay open, one coroutine after the other as the agent
//          does
//   raw    both questions written, both answers read by blocking calls, nothing parsed: what the
//          servers and the kernel take, so what no client can go below
// usage: bench_ovn_snapshot DATABASE OVSDB_CLIENT OVN_APPCTL CTL,SOCK CTL,SOCK CTL,SOCK
// Prints one JSON line for each way and round: CPU of the client side, CPU of the server and wall
// time, in microseconds a snapshot.

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "bench/clocks.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "net/asio_runtime.h"
#include "observe/ovn/cluster.h"
#include "observe/ovn/member.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using bench::cpu_us;
using bench::since;
using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kExecs = 60;
constexpr int kSnapshots = 3000;
constexpr Duration kTimeout = 2s;

using Walls = std::vector<double>;

/// Takes `count` snapshots one after the other; microseconds of each.
struct Way {
  std::string_view name;
  int count;
  std::function<Walls(int count)> take;
};

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "bench_ovn_snapshot: {}\n", what);
  std::exit(1);
}

/// A way that needs no event loop.
std::function<Walls(int)> one_by_one(std::function<bool()> snapshot) {
  return [snapshot = std::move(snapshot)](int count) {
    Walls walls;
    for (int i = 0; i < count; ++i) {
      const auto begun = steady_clock::now();
      if (!snapshot()) give_up("a snapshot failed");
      walls.push_back(since(begun));
    }
    return walls;
  };
}

/// What a process has run so far, in microseconds (Linux: Documentation/scheduler/sched-stats.rst).
double ran_us(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/schedstat", process));
  double nanoseconds = 0;
  file >> nanoseconds;
  return nanoseconds / 1000;
}

void measure(int round, const Way& way, pid_t server) {
  const double cpu_before = cpu_us();
  const double server_before = ran_us(server);
  Walls walls = way.take(way.count);
  const double cpu = (cpu_us() - cpu_before) / way.count;
  const double server_cpu = (ran_us(server) - server_before) / way.count;
  std::ranges::sort(walls);
  fmt::print(
      R"({{"way":"{}","round":{},"snapshots":{},"cpu_us":{:.2f},"server_us":{:.2f},"wall_p50_us":{:.2f},"wall_p99_us":{:.2f}}})"
      "\n",
      way.name, round, way.count, cpu, server_cpu, walls[walls.size() / 2],
      walls[walls.size() * 99 / 100]);
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

  Walls take(int count) { return net::run_task(runtime_, snapshots(count)); }

 private:
  static observe::ovn::MemberTarget with(observe::ovn::MemberTarget target, unsigned fresh_every) {
    target.options.fresh_every = fresh_every;
    return target;
  }

  runtime::Task<Walls> snapshots(int count) {
    Walls walls;
    for (int i = 0; i < count; ++i) {
      const auto begun = steady_clock::now();
      opinions_.front() = co_await member_.look(runtime_.deadline_in(kTimeout));
      const judge::raft::Assessment assessment =
          judge::raft::assess(opinions_, expectation_, memory_, runtime_.now());
      if (!opinions_.front().status || !opinions_.front().local ||
          assessment.quorum.live != opinions_.size()) {
        give_up("a native snapshot failed");
      }
      walls.push_back(since(begun));
    }
    co_return walls;
  }

  net::AsioRuntime& runtime_;
  observe::ovn::Member member_;
  observe::ovn::Cluster cluster_;
  judge::raft::Expectation expectation_;
  judge::raft::Memory memory_;
  std::vector<judge::raft::Opinion> opinions_;
};

/// The same two questions over two blocking sockets; the answers are counted, not read.
class Raw {
 public:
  Raw(const std::string& control, const std::string& ovsdb, std::string_view database,
      std::string_view query)
      : control_(connect_to(control)), ovsdb_(connect_to(ovsdb)) {
    status_request_ =
        fmt::format(R"({{"id":1,"method":"cluster/status","params":["{}"]}})", database);
    row_request_ = fmt::format(R"({{"id":1,"method":"transact","params":{}}})", query);
  }

  bool snapshot() {
    return send_all(control_, status_request_) && send_all(ovsdb_, row_request_) &&
           read_answer(ovsdb_) && read_answer(control_);
  }

  /// Who listens.
  [[nodiscard]] pid_t server() const {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(ovsdb_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) give_up("no peer");
    return peer.pid;
  }

 private:
  static int connect_to(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      give_up("cannot connect to " + path);
    }
    return fd;
  }

  static bool send_all(int fd, std::string_view text) {
    return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

  /// Reads until the braces of one object are closed; these answers hold none in their strings.
  static bool read_answer(int fd) {
    char buffer[8192];
    std::ptrdiff_t depth = 0;
    do {
      const ssize_t size = ::read(fd, buffer, sizeof buffer);
      if (size <= 0) return false;
      const std::string_view text(buffer, static_cast<std::size_t>(size));
      depth += std::ranges::count(text, '{') - std::ranges::count(text, '}');
    } while (depth > 0);
    return true;
  }

  int control_;
  int ovsdb_;
  std::string status_request_;
  std::string row_request_;
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
  Raw raw(targets.front().control->path, targets.front().ovsdb->path, database, query);
  const Way ways[] = {{"exec", kExecs, one_by_one([&] { return run(client) && run(appctl); })},
                      {"fresh", kSnapshots, [&](int count) { return fresh.take(count); }},
                      {"kept", kSnapshots, [&](int count) { return kept.take(count); }},
                      {"raw", kSnapshots, one_by_one([&] { return raw.snapshot(); })}};
  for (int round = 1; round <= kRounds; ++round) {
    for (const Way& way : ways) measure(round, way, raw.server());
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
