#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// A unit as systemd describes it (org.freedesktop.systemd1(5)), and its process, as the kernel
/// shows it. Texts are systemd's.
struct SystemdFacts {
  std::string id;            ///< `bird.service`, after aliases
  std::string load_state;    ///< `loaded`, `not-found`, `masked`, `bad-setting`, `error`, …
  std::string active_state;  ///< `active`, `reloading`, `inactive`, `failed`, `activating`, …
  std::string sub_state;     ///< `running`, `exited`, `auto-restart`, `dead`, …
  std::optional<Duration> in_state;  ///< by the wall clock, at least 0; never changed: nothing
  // Only of a service:
  std::string result;            ///< `success`, `exit-code`, `signal`, `watchdog`, …
  std::string status_text;       ///< its last report about itself (sd_notify STATUS=)
  std::uint32_t main_pid = 0;    ///< 0: none
  std::optional<int> exit_code;  ///< of the last main process that exited by itself
  std::optional<int> signal;     ///< or of one that a signal ended
  std::uint64_t restarts = 0;    ///< by systemd, since the last start by hand
  /// restarts within the policy's window, as probes saw them
  std::size_t recent_restarts = 0;
  std::optional<Duration> watchdog;      ///< how often it must send a watchdog ping
  std::optional<Duration> watchdog_age;  ///< time since the last ping, by the wall clock
  bool process_sought = false;
  std::optional<ProcessFacts> process;  ///< the process with the pid `main_pid`
};

struct SystemdPolicy {
  /// of a running service; a younger one is unknown
  Duration min_uptime = std::chrono::seconds(2);
  std::size_t restarts = 3;  ///< this many within `within` are a crash loop
  Duration within = std::chrono::seconds(60);
  Duration longest_wait = std::chrono::seconds(10);  ///< of the process in state D
};

/// Counts restarts by systemd's own counter, so that those between two probes count too.
class RestartCounter {
 public:
  /// Adds one probe; returns how many restarts fell into the last `within`. The first probe counts
  /// none, because nobody knows when those were. A counter that went back was reset by a start by
  /// hand.
  std::size_t feed(std::uint64_t restarts, Duration within, TimePoint now);

 private:
  std::optional<std::uint64_t> last_;
  std::deque<std::pair<TimePoint, std::uint64_t>> seen_;
};

/// `waiting`: for how long the process was found in state D (WaitingClock). Pure.
Judgement judge_systemd(const SystemdFacts& facts, const SystemdPolicy& policy, Duration waiting);

}  // namespace wardmote::judge
