#pragma once

#include <algorithm>
#include <string_view>

#include "base/time.h"

namespace wardmote::store {

/// The two clocks at one moment. Decisions use the one that never jumps; times that survive a
/// restart of the machine are stored in the other.
struct ClockPair {
  TimePoint now;
  WallTime wall_now;
  std::string_view boot{};  ///< Runtime::boot(), where times are compared with those of others

  [[nodiscard]] WallTime wall(TimePoint at) const noexcept { return wall_now + (at - now); }
  /// Not later than now: after the wall clock was set back, a past time must not lie in the future.
  [[nodiscard]] TimePoint past(WallTime at) const noexcept {
    return now + std::min(at - wall_now, Duration::zero());
  }
  [[nodiscard]] TimePoint boot_time(WallTime at) const noexcept { return now + (at - wall_now); }
  /// When something is due that was due `at` on a clock that showed `written` when it was stored:
  /// never later than it had to wait then, and at once when the wall clock was set back since.
  [[nodiscard]] TimePoint due(WallTime at, WallTime written) const noexcept {
    return written > wall_now ? now : boot_time(at);
  }
};

}  // namespace wardmote::store
