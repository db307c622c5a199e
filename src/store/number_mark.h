#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace wardmote::store {

/// The mark that is written down for the numbers of one kind. People and receivers are told of a
/// number also while the disk takes no writes, and it must not be given again after a kill: so the
/// mark is ahead of the last number, by 16 at least, and the next life begins after it. Who gives
/// more than that while nothing is written is not covered.
class NumberMark {
 public:
  /// After `last` was given, or at the start of a life: the mark to write down, if it has to move.
  std::optional<std::int64_t> move(std::int64_t last) noexcept {
    if (mark_ - last >= kAhead / 2) return std::nullopt;
    mark_ = last + kAhead;
    return mark_;
  }

  /// The number after which a life begins whose first mark the disk did not take: no other life
  /// begins there, also when its clock showed the same, as long as none gives more than 16 numbers.
  /// `random`: any number.
  static std::int64_t apart(WallTime now, std::uint64_t random) noexcept {
    constexpr std::chrono::sys_days kBegin = std::chrono::year(2026) / 1 / 1;
    constexpr std::int64_t kPlaces = 1 << 16;
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - kBegin).count();
    return (minutes * kPlaces + static_cast<std::int64_t>(random % kPlaces)) * 16;
  }

 private:
  static constexpr std::int64_t kAhead = 32;

  std::int64_t mark_ = 0;
};

}  // namespace wardmote::store
