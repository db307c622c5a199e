#include "net/subreaper.h"

#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/unique_fd.h"

namespace wardmote::net {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view kVariable = "WARDMOTE_RUN=";
/// A process that forks during the search is found in a later round.
constexpr int kRounds = 32;
constexpr Duration kLastPatience = 500ms;

/// The children as the kernel lists them; of all threads, because each thread has its own.
std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  std::error_code error;
  for (fs::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    std::ifstream list(thread->path() / "children");
    std::copy(std::istream_iterator<pid_t>(list), {}, std::back_inserter(children));
  }
  return children;
}

/// Empty while the process is in the middle of execve, after it has ended, and when it may not be
/// read.
std::string environment_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The value of our variable; empty when the process does not have it.
std::string_view mark_in(std::string_view environment) {
  for (std::string_view one : split(environment, '\0')) {
    if (consume_prefix(one, kVariable)) return one;
  }
  return {};
}

/// False while it runs.
bool reap(pid_t child) noexcept {
  siginfo_t end{};
  return ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG) == 0 &&
         end.si_pid == child;
}

}  // namespace

std::uint64_t Subreaper::begin(bool ends_family) {
  if (!ends_family) {
    keeper_ran_ = true;
    return 0;
  }
  if (!adopts_) {
    alone_ = ::getpid() != 1 && own_children().size() == leaders_.size();
    adopts_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
  }
  live_.insert(++runs_);
  return runs_;
}

std::string Subreaper::marker(std::uint64_t run) {
  if (run == 0) return std::string(kVariable);
  return fmt::format("{}{}.{}", kVariable, ::getpid(), run);
}

void Subreaper::end(std::uint64_t run, pid_t leader) {
  leaders_.erase(leader);
  live_.erase(run);
  patience_ = kFirstPatience;
  second_look_.reset();
  if (adopts_) sweep();
}

void Subreaper::sweep() {
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    for (const pid_t child : own_children()) {
      if (!leaders_.contains(child) && !dying_.contains(child)) found = end_orphan(child) || found;
    }
    if (!found) return;
  }
}

/// True when the process has gone or was killed, so that its own children are orphans now or soon.
bool Subreaper::end_orphan(pid_t orphan) {
  if (reap(orphan)) return true;
  const std::string environment = environment_of(orphan);
  if (!is_over(environment)) {
    if (environment.empty()) look_again();
    return false;
  }
  // Not glibc's wrapper, because glibc 2.36 declares it without C linkage.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, orphan, 0)));
  if (!pidfd || ::kill(orphan, SIGKILL) != 0) return false;
  auto ended = std::make_unique<Descriptor>(core_->context, pidfd.release());
  ended->async_wait(Descriptor::wait_read,
                    [self = weak_from_this(), orphan](const boost::system::error_code& error) {
                      const auto subreaper = self.lock();
                      if (!error && subreaper) subreaper->bury(orphan);
                    });
  dying_[orphan] = std::move(ended);
  return true;
}

bool Subreaper::is_over(const std::string& environment) const {
  std::string_view rest = mark_in(environment);
  const bool ours = parse_number<pid_t>(take_until(rest, '.')) == ::getpid();
  const auto run = parse_number<std::uint64_t>(rest);
  if (ours && run) return !live_.contains(*run);
  return alone_ && !keeper_ran_ && live_.empty();
}

/// The pauses grow, so that a daemon without any environment costs nothing in the end.
void Subreaper::look_again() {
  if (second_look_ || patience_ > kLongestPatience) return;
  second_look_ = std::make_unique<BootTimer>(core_->context, SystemBootClock::now() + patience_);
  patience_ *= 2;
  second_look_->async_wait([self = weak_from_this()](const boost::system::error_code& error) {
    const auto subreaper = self.lock();
    if (error || !subreaper) return;
    subreaper->second_look_.reset();
    subreaper->sweep();
  });
}

/// The children of the killed process are ours now.
void Subreaper::bury(pid_t orphan) {
  reap(orphan);
  dying_.erase(orphan);
  sweep();
}

void Subreaper::finish() {
  const TimePoint latest = SystemBootClock::now() + kLastPatience;
  while ((!live_.empty() || !dying_.empty()) && SystemBootClock::now() < latest) {
    std::erase_if(leaders_, reap);
    if (leaders_.empty()) live_.clear();
    std::erase_if(dying_, [](const auto& one) { return reap(one.first); });
    sweep();
    ::poll(nullptr, 0, 1);
  }
  dying_.clear();
}

}  // namespace wardmote::net
