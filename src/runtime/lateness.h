#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"

namespace wardmote::runtime {

/// How late timers ran: a histogram with two buckets for each doubling, from 64 us to over a
/// minute. A quantile is the upper edge of its bucket, so never too small and at most half as much
/// again too large.
class Lateness {
 public:
  void add(Duration late) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] Duration max() const noexcept { return max_; }
  /// Of 0.5, the median. Zero while nothing was added.
  [[nodiscard]] Duration quantile(double q) const noexcept;

 private:
  static constexpr std::size_t kBuckets = 42;
  static std::size_t bucket_of(Duration late) noexcept;
  static Duration upper_edge(std::size_t bucket) noexcept;

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  Duration max_{};
};

}  // namespace wardmote::runtime
