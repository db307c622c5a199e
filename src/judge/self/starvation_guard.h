#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"

namespace wardmote::judge {

struct StarvationPolicy {
  Duration late_limit =
      /// a timer this late means that the agent did not run
      std::chrono::milliseconds(250);
  Duration jump_limit = std::chrono::seconds(2);  ///< wall against boot clock between two beats
  Duration quiet_after =
      std::chrono::seconds(5);  ///< still degraded for this long after the last sign
};

/// Knows when the agent had too few resources to judge others: then a bad result is not the fault
/// of its subject. Fed by a regular heartbeat of the agent. Pure; life cycle: one for each agent.
class StarvationGuard {
 public:
  explicit StarvationGuard(StarvationPolicy policy = {}) noexcept : policy_(policy) {}

  /// One heartbeat: it was due at `due` and ran at `now`; `wall` is the wall clock at `now`.
  void beat(TimePoint due, TimePoint now, WallTime wall) noexcept;
  /// The agent failed because it lacked resources (descriptors, memory).
  void exhausted(TimePoint now) noexcept;

  /// Whether a bad result of a probe between `begun` and `ended` does not count. After a pause the
  /// deadline of a probe may run before the heartbeat does: deliver an overdue heartbeat first.
  [[nodiscard]] bool voids(TimePoint begun, TimePoint ended) const noexcept;
  /// Why this agent is degraded at `now`; nothing when it is well.
  [[nodiscard]] std::optional<std::string> complaint(TimePoint now) const;

 private:
  void mark(TimePoint from, TimePoint to, const char* why, Duration jump = {}) noexcept;

  StarvationPolicy policy_;
  std::optional<TimePoint> last_beat_;
  WallTime last_wall_;
  // Only the latest starved stretch is kept: probes are short, and an older one is already judged.
  std::optional<TimePoint> starved_from_;
  TimePoint starved_to_;
  const char* why_ = "";
  Duration jump_{};  ///< step of the wall clock, if that is the reason
};

}  // namespace wardmote::judge
