#pragma once

#include <algorithm>

#include "base/time.h"

namespace wardmote::store {

/// The two clocks at one moment. Decisions use the one that never jumps; what outlives the
/// machine's start is written down in the other.
struct ClockPair {
  TimePoint now;
  WallTime wall_now;

  [[nodiscard]] WallTime wall(TimePoint at) const noexcept { return wall_now + (at - now); }
  /// Not later than now: a wall clock that was set back must not make the past future.
  [[nodiscard]] TimePoint past(WallTime at) const noexcept {
    return now + std::min(at - wall_now, Duration::zero());
  }
  [[nodiscard]] TimePoint boot(WallTime at) const noexcept { return now + (at - wall_now); }
};

}  // namespace wardmote::store
