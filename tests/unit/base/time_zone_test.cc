#include "base/time_zone.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kForward{1000h};
constexpr WallTime kBack{5000h};
const TimeZone kZone{.name = "X", .ahead = 1h, .changes = {{kForward, 2h}, {kBack, 1h}}};

LocalTime shown(Duration since) {
  return LocalTime(since);
}

TEST(TimeZone, WithoutChangesTheDifferenceIsAlwaysTheSame) {
  EXPECT_EQ(TimeZone().local(kForward), shown(1000h));
  EXPECT_EQ(TimeZone().moment(shown(1000h)), kForward);
  const TimeZone west{.name = "W", .ahead = -5h, .changes = {}};
  EXPECT_EQ(west.local(kForward), shown(995h));
  EXPECT_EQ(west.moment(shown(995h)), kForward);
}

TEST(TimeZone, ClocksChangeAtTheMomentOfTheChange) {
  EXPECT_EQ(kZone.local(kForward - 1ns), shown(1001h - 1ns));
  EXPECT_EQ(kZone.local(kForward), shown(1002h));
  EXPECT_EQ(kZone.local(kBack - 1ns), shown(5002h - 1ns));
  EXPECT_EQ(kZone.local(kBack), shown(5001h));
}

TEST(TimeZone, EveryMomentIsFoundByWhatItsClocksShowOrOneThatShowedItBefore) {
  for (WallTime at = kForward - 5h; at < kBack + 5h; at += 15min) {
    const WallTime found = kZone.moment(kZone.local(at));
    const bool comes_twice = at >= kBack && at < kBack + 1h;
    EXPECT_EQ(found, comes_twice ? at - 1h : at);
  }
}

TEST(TimeZone, ATimeThatClocksLeaveOutIsTheMomentOfTheChange) {
  EXPECT_EQ(kZone.moment(shown(1001h - 1ns)), kForward - 1ns);
  EXPECT_EQ(kZone.moment(shown(1001h)), kForward);
  EXPECT_EQ(kZone.moment(shown(1001h + 59min)), kForward);
  EXPECT_EQ(kZone.moment(shown(1002h)), kForward);
}

}  // namespace
}  // namespace wardmote
