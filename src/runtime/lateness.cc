#include "runtime/lateness.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace wardmote::runtime {

using namespace std::chrono_literals;

namespace {

constexpr Duration kFirstEdge = 64us;

}  // namespace

Duration Lateness::upper_edge(std::size_t bucket) noexcept {
  const Duration doubled = kFirstEdge * (std::int64_t{1} << (bucket / 2));
  return bucket % 2 == 0 ? doubled : doubled + doubled / 2;
}

std::size_t Lateness::bucket_of(Duration late) noexcept {
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && late > upper_edge(bucket)) ++bucket;
  return bucket;
}

void Lateness::add(Duration late) noexcept {
  ++buckets_[bucket_of(late)];
  ++count_;
  max_ = std::max(max_, late);
}

Duration Lateness::quantile(double q) const noexcept {
  const double wanted = q * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(upper_edge(bucket), max_);
  }
  return max_;
}

}  // namespace wardmote::runtime
