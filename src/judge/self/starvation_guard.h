#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"

namespace wardmote::judge {

struct StarvationPolicy {
  Duration late_limit =
      std::chrono::milliseconds(250);             ///< a timer this late means that we did not run
  Duration jump_limit = std::chrono::seconds(2);  ///< wall against boot clock between two beats
  Duration quiet_after =
      std::chrono::seconds(5);  ///< still degraded for this long after the last sign
};

/// Knows when this process was too starved to judge others (rule: own sickness is not others'
/// death). Fed by a regular heartbeat of the agent. Pure; life cycle: one for each agent.
class StarvationGuard {
 public:
  explicit StarvationGuard(StarvationPolicy policy = {}) noexcept : policy_(policy) {}

  /// One heartbeat: it was due at `due` and ran at `now`; `wall` is the wall clock at `now`.
  void beat(TimePoint due, TimePoint now, WallTime wall) noexcept;
  /// We failed for want of our own resources (descriptors, memory).
  void exhausted(TimePoint now) noexcept;

  /// Whether a negative verdict from a look between `begun` and `ended` is void. After a pause the
  /// deadline of a look may run before the heartbeat does: deliver a heartbeat that is overdue
  /// first.
  [[nodiscard]] bool voids(TimePoint begun, TimePoint ended) const noexcept;
  /// Why this agent is degraded at `now`; nothing when it is well.
  [[nodiscard]] std::optional<std::string> complaint(TimePoint now) const;

 private:
  void mark(TimePoint from, TimePoint to, const char* why) noexcept;

  StarvationPolicy policy_;
  std::optional<TimePoint> last_beat_;
  WallTime last_wall_;
  // The latest starved stretch is enough: looks are short, and an older one is judged already.
  std::optional<TimePoint> starved_from_;
  TimePoint starved_to_;
  const char* why_ = "";
};

}  // namespace wardmote::judge
