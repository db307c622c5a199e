#pragma once

#include <cstdint>
#include <optional>

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

 private:
  static constexpr std::int64_t kAhead = 32;

  std::int64_t mark_ = 0;
};

}  // namespace wardmote::store
