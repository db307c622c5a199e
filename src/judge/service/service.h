#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/host/process.h"
#include "judge/judgement.h"

namespace wardmote::judge {

enum class Supervisor : std::uint8_t { kRunit, kS6, kDaemontools };

/// `runit`, `s6`, `daemontools`.
std::string_view to_string(Supervisor supervisor) noexcept;
/// The program that watches one service, as the kernel names it: `runsv`, `s6-supervise`,
/// `supervise`.
std::string_view program_of(Supervisor supervisor) noexcept;

/// A supervised service, as its running supervisor describes it, and its process, as the kernel
/// shows it.
struct ServiceFacts {
  enum class State : std::uint8_t { kDown, kRun, kFinish };

  Supervisor supervisor = Supervisor::kRunit;
  State state = State::kDown;
  Duration in_state{};    ///< by the wall clock, at least 0
  std::uint32_t pid = 0;  ///< of the service or its finish script; 0 when down
  bool want_up = false;
  bool normally_up = false;  ///< it is started with its supervisor
  bool paused = false;
  bool got_term = false;
  std::optional<bool> ready;  ///< only of a service that reports it (s6, notification-fd)
  std::optional<int> last_exit_code;
  std::optional<int> last_signal;
  std::size_t restarts = 0;  ///< within the policy's window, as far as known
  bool process_sought = false;
  std::optional<ProcessFacts> process;  ///< the process with the pid `pid`
  std::string parent_name;              ///< of that process
  char parent_state = '?';
};

std::string_view to_string(ServiceFacts::State state) noexcept;

struct ServicePolicy {
  Duration min_uptime = std::chrono::seconds(2);  ///< a younger one is unknown
  std::size_t restarts = 3;                       ///< this many within `within` are a crash loop
  Duration within = std::chrono::seconds(60);
  Duration longest_wait = std::chrono::seconds(10);  ///< of the process in state D
  bool as_calico = false;                            ///< ok whenever `sv status` begins with `run`
};

/// What probes have shown about a service's restarts. A restart between two probes shows in the
/// time of the next state.
class RestartMemory {
 public:
  /// Adds one probe: the state, and since when by the wall clock. Only of a service that is wanted
  /// up; an order to stop clears everything.
  void feed(ServiceFacts::State state, bool want_up, WallTime changed, Duration within,
            TimePoint now);
  /// Restarts within the last `within`.
  [[nodiscard]] std::size_t count() const noexcept;

 private:
  std::optional<WallTime> last_start_;
  std::optional<WallTime> last_end_;
  std::deque<TimePoint> starts_;
  std::deque<TimePoint> ends_;
};

/// `waiting`: for how long the process was found in state D (WaitingClock). Pure.
Judgement judge_service(const ServiceFacts& facts, const ServicePolicy& policy, Duration waiting);

}  // namespace wardmote::judge
