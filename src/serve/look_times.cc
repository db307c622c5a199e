#include "serve/look_times.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/time.h"

namespace wardmote::serve {

void LookTimes::add(Duration took) noexcept {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  ++counts[static_cast<std::size_t>(bucket)];
  sum += took;
}

std::uint64_t LookTimes::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace wardmote::serve
