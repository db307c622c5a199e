#include "base/epoch_ms.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

namespace wardmote {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// `date -u -d 2200-01-01 +%s` says 7258118400.
TEST(EpochMs, AMomentLiesInTheYears1970To2199) {
  EXPECT_EQ(moment_of_epoch_ms(0), WallTime());
  EXPECT_EQ(moment_of_epoch_ms(7'258'118'399'999), WallTime(7'258'118'400s - 1ms));
  EXPECT_EQ(epoch_ms(*moment_of_epoch_ms(7'258'118'399'999)), 7'258'118'399'999);
  for (const std::int64_t none : {std::int64_t{7'258'118'400'000}, std::int64_t{-1}, kLeast, kMost})
    EXPECT_EQ(moment_of_epoch_ms(none), std::nullopt) << none;
}

TEST(EpochMs, ADurationIsNotNegativeNorLongerThanACentury) {
  EXPECT_EQ(duration_of_ms(0), 0ms);
  EXPECT_EQ(duration_of_ms(3'155'695'200'000), std::chrono::years(100));
  for (const std::int64_t none : {std::int64_t{3'155'695'200'001}, std::int64_t{-1}, kLeast, kMost})
    EXPECT_EQ(duration_of_ms(none), std::nullopt) << none;
}

}  // namespace
}  // namespace wardmote
