#pragma once

#include <algorithm>
#include <chrono>
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
  /// Of a moment that a record tells in milliseconds. Not later than now: after the wall clock was
  /// set back, a past time must not lie in the future.
  [[nodiscard]] TimePoint past(WallTime at) const noexcept { return std::min(boot_time(at), now); }
  /// The middle of the millisecond is taken: the two clocks are never read at quite the same
  /// moment, and what is written again must be the millisecond that was read.
  [[nodiscard]] TimePoint boot_time(WallTime at) const noexcept {
    constexpr std::chrono::microseconds kHalf{500};
    return now + (at + kHalf - wall_now);
  }
  /// When something is due that was due `at` on a clock that showed `written` when it was stored:
  /// never later than it had to wait then, and at once when the wall clock was set back since.
  [[nodiscard]] TimePoint due(WallTime at, WallTime written) const noexcept {
    return written > wall_now ? now : boot_time(at);
  }
};

}  // namespace wardmote::store
