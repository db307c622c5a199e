#include "runtime/lateness.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace wardmote::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Lateness, IsZeroWhenNothingWasAdded) {
  const Lateness none;
  EXPECT_EQ(none.quantile(0.5), 0s);
  EXPECT_EQ(none.max(), 0s);
}

RC_GTEST_PROP(Lateness, AQuantileIsNeverTooSmallAndAtMostHalfTooLarge, ()) {
  const auto micros =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 60'000'000)));
  Lateness lateness;
  for (const int us : micros) lateness.add(std::chrono::microseconds(us));
  std::vector<int> sorted = micros;
  std::ranges::sort(sorted);
  for (const double q : {0.5, 0.99}) {
    const auto rank =
        static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(sorted.size()))));
    const Duration exact = std::chrono::microseconds(sorted[rank - 1]);
    RC_ASSERT(lateness.quantile(q) >= exact);
    RC_ASSERT(lateness.quantile(q) <= std::max<Duration>(exact * 3 / 2, 64us));
  }
  RC_ASSERT(lateness.max() == std::chrono::microseconds(sorted.back()));
}

}  // namespace
}  // namespace wardmote::runtime
