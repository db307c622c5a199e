#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>

#include "runtime/task_group.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;
using runtime::ProcessExit;
using runtime::ProcessSpec;
using runtime::Runtime;
using runtime::Task;

/// Empty for who has ended, also while nobody has reaped it.
std::string command_of(pid_t pid) {
  std::string command;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/cmdline"), command);
  return command;
}

/// Whether it has ended, also while nobody has reaped it, or a SIGKILL is on its way to it.
bool is_over(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string key, value; status >> key && std::getline(status >> std::ws, value);) {
    if (key == "State:" && (value.starts_with('Z') || value.starts_with('X'))) return true;
    if (key == "SigPnd:") return (std::stoull(value, nullptr, 16) & (1U << (SIGKILL - 1))) != 0;
  }
  return true;
}

class Processes : public NetTest {
 protected:
  Result<ProcessExit> run(ProcessSpec spec, Duration timeout = 10s) {
    return run_task(runtime_, runtime_.processes().run(std::move(spec), in(timeout)));
  }
  Result<ProcessExit> shell(std::string script, Duration timeout = 10s) {
    return run({.argv = {"sh", "-c", std::move(script)}}, timeout);
  }
  static std::size_t open_descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
  }
  /// Lets the loop reap what was killed.
  void expect_no_child_left() {
    for (int i = 0; i < 200; ++i) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) return;
      runtime_.run(runtime_.sleep_until(runtime_.now() + 5ms));
    }
    FAIL() << "a child process is left";
  }
  /// What it runs is not asked: it may be a shell still, or in the middle of execve.
  void expect_goes_on(pid_t pid, bool goes_on) {
    // The signal that ends it is pending, and then for a moment it is neither that nor a zombie.
    bool over = is_over(pid);
    for (int i = 0; !goes_on && !over && i < 200; ++i) {
      runtime_.run(runtime_.sleep_until(runtime_.now() + 5ms));
      over = is_over(pid);
    }
    EXPECT_EQ(!over, goes_on);
  }
};

TEST_F(Processes, GiveOutputErrorsAndStatus) {
  const auto exit = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(exit) << exit.error().describe();
  EXPECT_EQ(exit->status, 3);
  EXPECT_EQ(exit->standard_output, "out\n");
  EXPECT_EQ(exit->standard_error, "err\n");
}

TEST_F(Processes, ReadTheirStandardInput) {
  EXPECT_EQ(run({.argv = {"cat"}, .standard_input = "fed"})->standard_output, "fed");
  EXPECT_EQ(run({.argv = {"cat"}})->standard_output, "");
}

TEST_F(Processes, GetTheirArgumentsUntouched) {
  EXPECT_EQ(run({.argv = {"printf", "%s|%s", "$HOME `id`", "a b"}})->standard_output,
            "$HOME `id`|a b");
}

TEST_F(Processes, DeathBySignalIs128PlusItsNumber) {
  EXPECT_EQ(shell("kill -TERM $$")->status, 128 + SIGTERM);
}

TEST_F(Processes, AMissingOrForbiddenProgramIsAnError) {
  EXPECT_EQ(run({.argv = {"/no/such/program"}}).error().code, Errc::kMissing);
  EXPECT_EQ(run({.argv = {"wardmote-no-such-program"}}).error().code, Errc::kMissing);
  EXPECT_EQ(run({.argv = {folder_.string()}}).error().code, Errc::kDenied);
  EXPECT_EQ(run({}).error().code, Errc::kInvalid);
}

TEST_F(Processes, OneThatHangsIsKilledWithItsChildrenAtTheDeadline) {
  const TimePoint begun = runtime_.now();
  const auto exit = shell("sleep 1000 & echo $! > " + path("pid") + "; wait", 100ms);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().code, Errc::kTimeout);
  EXPECT_LT(runtime_.now() - begun, 5s);
  expect_no_child_left();
}

/// As ssh does with ControlPersist: the child ends, a grandchild keeps its pipes.
TEST_F(Processes, AGrandchildThatKeepsThePipesDelaysNobody) {
  const TimePoint begun = runtime_.now();
  const auto exit = shell("sleep 1000 & echo done");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->standard_output, "done\n");
  EXPECT_LT(runtime_.now() - begun, 5s);
}

/// A daemon as daemon(3) makes one: a session of its own, and no parent.
std::string daemonized(const std::string& command) {
  return "setsid sh -c '(" + command + ") </dev/null >/dev/null 2>&1 &' </dev/null >/dev/null 2>&1";
}

/// A command brings a server up without making a daemon of it, and ends or is ended.
TEST_F(Processes, AServerThatIsSparedOutlivesTheCommandThatStartedIt) {
  const std::string server = path("spared-server");
  std::filesystem::copy_file("/bin/sleep", server);
  const std::string begin = server + " 1000 >/dev/null 2>&1 & echo $! > " + path("pid") +
                            "; until grep -q spared /proc/$!/comm; do :; done; ";
  // The second one says more than it may.
  for (const char* const rest : {"exit 0", "sleep 1000 & echo much; wait"}) {
    const auto ended =
        run({.argv = {"sh", "-c", begin + rest}, .output_cap = 1, .spares = "spared-server"});
    EXPECT_EQ(ended.has_value(), std::string_view(rest) == "exit 0");
    pid_t pid = 0;
    std::ifstream(path("pid")) >> pid;
    ASSERT_GT(pid, 0) << rest;
    EXPECT_TRUE(command_of(pid).starts_with(server)) << rest;
    expect_goes_on(pid, true);
    ::kill(pid, SIGKILL);
  }
  expect_no_child_left();
}

/// A server has its name only after execve; before that it is a fork of whatever starts it.
TEST_F(Processes, WhatComesFromACommandThatEndsWellMayBeTheServerThatIsSpared) {
  for (const char* const end : {"exit 0", "exit 1", "kill -9 $$"}) {
    const std::string begin = "sleep 1000 >/dev/null 2>&1 & echo $! > " + path("pid") + "; ";
    ASSERT_TRUE(run({.argv = {"sh", "-c", begin + end}, .spares = "spared-server"})) << end;
    pid_t pid = 0;
    std::ifstream(path("pid")) >> pid;
    ASSERT_GT(pid, 0) << end;
    SCOPED_TRACE(end);
    expect_goes_on(pid, std::string_view(end) == "exit 0");
    ::kill(pid, SIGKILL);
  }
  expect_no_child_left();
}

Task<void> run_for_long(Runtime* runtime, ProcessSpec spec) {
  (void)co_await runtime->processes().run(std::move(spec), runtime->deadline_in(1h));
}

/// An orderly end does no more harm than kill -9.
TEST_F(Processes, AtTheEndACommandThatSparesSomethingIsLeftToItself) {
  for (const char* const spared : {"spared-server", ""}) {
    const std::string script = "echo $$ > " + path("pid") + "; exec sleep 1000";
    pid_t pid = 0;
    {
      AsioRuntime ending;
      runtime::TaskGroup tasks(ending.executor());
      tasks.spawn("command",
                  run_for_long(&ending, {.argv = {"sh", "-c", script}, .spares = spared}));
      while (pid == 0) {
        ending.run(ending.sleep_until(ending.now() + 5ms));
        std::ifstream(path("pid")) >> pid;
      }
      ending.processes().let_go();
      ending.run(tasks.stop());
    }
    expect_goes_on(pid, std::string_view(spared) != "");
    ::kill(pid, SIGKILL);
    // Nobody else does it any more.
    ::waitpid(pid, nullptr, 0);
    std::filesystem::remove(path("pid"));
  }
  expect_no_child_left();
}

class Families : public Processes {
 protected:
  Result<ProcessExit> whole_family(std::string script, Duration timeout = 10s) {
    return run({.argv = {"sh", "-c", std::move(script)}, .ends_family = true}, timeout);
  }
};

TEST_F(Families, ADaemonOfOneThatHangsIsKilledAtTheDeadline) {
  for (int i = 0; i < 100; ++i) {
    const auto exit = whole_family(daemonized("exec sleep 1000") + "; sleep 1000", 30ms);
    ASSERT_FALSE(exit);
    EXPECT_EQ(exit.error().code, Errc::kTimeout);
  }
  expect_no_child_left();
}

TEST_F(Families, ADaemonOfOneThatEndsIsKilledWithItsOwnChildren) {
  for (int i = 0; i < 100; ++i) {
    const auto exit = whole_family(daemonized("sleep 1000 & sleep 1000; true") + "; echo done");
    ASSERT_TRUE(exit) << exit.error().describe();
    EXPECT_EQ(exit->standard_output, "done\n");
  }
  expect_no_child_left();
}

TEST_F(Families, ADaemonWithoutOurVariableIsFoundToo) {
  ASSERT_TRUE(whole_family(daemonized("exec env -i sleep 1000")));
  expect_no_child_left();
}

/// A repair may start a service, which must live on; ssh keeps its connection so.
TEST_F(Families, ADaemonOfAnotherProgramIsSpared) {
  ASSERT_TRUE(whole_family("true"));
  for (const char* const by : {"", "env -i "}) {
    std::filesystem::remove(path("pid"));
    ASSERT_TRUE(shell(
        daemonized("exec sh -c \"echo \\$\\$ > " + path("pid") + "; exec " + by + "sleep 1000\"")));
    pid_t daemon = 0;
    for (int i = 0; i < 400 && daemon == 0; ++i) {
      std::ifstream(path("pid")) >> daemon;
      runtime_.run(runtime_.sleep_until(runtime_.now() + 5ms));
    }
    ASSERT_GT(daemon, 0);
    ASSERT_TRUE(whole_family(daemonized("exec sleep 1000")));
    EXPECT_EQ(::kill(daemon, 0), 0) << "it was killed with somebody else's family";
    ::kill(daemon, SIGKILL);
    siginfo_t end{};
    ::waitid(P_PID, static_cast<id_t>(daemon), &end, WEXITED);
  }
  expect_no_child_left();
}

/// In the middle of execve a process has no environment that could be read.
TEST_F(Families, ADaemonThatHadNoEnvironmentForAMomentIsFoundLater) {
  ASSERT_TRUE(shell("true"));  // from now on, who has no variable is spared
  const std::string begun = path("begun");
  ASSERT_TRUE(whole_family(daemonized("exec env -i sh -c \"echo >" + begun +
                                      "; sleep .2; exec env WARDMOTE_RUN=$WARDMOTE_RUN sleep "
                                      "1000\"") +
                           "; until [ -e " + begun + " ]; do sleep .01; done"));
  expect_no_child_left();
}

TEST_F(Families, NoneOutlivesTheRuntime) {
  {
    AsioRuntime brief;
    constexpr auto story = [](Runtime* runtime, std::string script) -> Task<void> {
      ProcessSpec spec{.argv = {"sh", "-c", std::move(script)}, .ends_family = true};
      const runtime::Deadline deadline = runtime->deadline_in(50ms);
      co_await runtime->processes().run(std::move(spec), deadline);
    };
    brief.run(story(&brief, daemonized("exec sleep 1000") + "; sleep 1000"));
  }
  siginfo_t info{};
  EXPECT_NE(::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0) << "a child is left";
}

TEST_F(Processes, TooMuchOutputIsALimitNotGrowth) {
  const auto exit =
      run({.argv = {"sh", "-c", "while :; do echo yes; done"}, .output_cap = 100'000});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().code, Errc::kLimit);
  expect_no_child_left();
}

TEST_F(Processes, OutputUpToTheCapIsWhole) {
  const auto exit = run({.argv = {"head", "-c", "300000", "/dev/zero"}, .output_cap = 300'000});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->standard_output.size(), 300'000U);
}

TEST_F(Processes, InheritNoDescriptorOfOurs) {
  const UniqueFd leaky(::socket(AF_UNIX, SOCK_STREAM, 0));
  // ls itself has one open for the folder.
  EXPECT_EQ(run({.argv = {"ls", "/proc/self/fd"}})->standard_output, "0\n1\n2\n3\n");
}

TEST_F(Processes, LeaveNoDescriptorBehind) {
  ASSERT_TRUE(shell("true"));
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(shell("true"));
    ASSERT_FALSE(run({.argv = {"/no/such/program"}}));
    ASSERT_FALSE(shell("sleep 100", 1ms));
  }
  expect_no_child_left();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Processes, ACancelledRunKillsAndReaps) {
  constexpr auto story = [](Runtime* runtime) -> Task<void> {
    runtime::TaskGroup group(runtime->executor());
    constexpr auto sleeper = [](Runtime* inner) -> Task<void> {
      ProcessSpec spec{.argv = {"sleep", "1000"}};
      const runtime::Deadline deadline = inner->deadline_in(1000s);
      co_await inner->processes().run(std::move(spec), deadline);
    };
    group.spawn("sleep", sleeper(runtime));
    co_await runtime->sleep_until(runtime->now() + 20ms);
    co_await group.stop();
  };
  runtime_.run(story(&runtime_));
  expect_no_child_left();
}

}  // namespace
}  // namespace wardmote::net
