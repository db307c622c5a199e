#include "judge/notify/weekly.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"
#include "base/time_zone.h"

namespace wardmote::judge::notify {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

constexpr unsigned kFriday = 1U << 4;
/// A Friday.
constexpr WallTime kStart = sys_days(2026y / 11 / 20);

/// As Berlin's.
TimeZone berlin() {
  return {.name = "Europe/Berlin",
          .ahead = 1h,
          .changes = {{sys_days(2026y / 3 / 29) + 1h, 2h}, {sys_days(2026y / 10 / 25) + 1h, 1h}}};
}

TEST(WeeklyWindow, IsATimeOfTheWeekAndMayLastBeyondMidnight) {
  const WeeklyWindow nightly{.days = kFriday, .begins = 23h, .length = 2h};
  EXPECT_FALSE(nightly.until(kStart + 23h - 1ns));
  EXPECT_EQ(nightly.until(kStart + 23h), kStart + 25h);
  EXPECT_EQ(nightly.until(kStart + 25h - 1ns), kStart + 25h);
  EXPECT_FALSE(nightly.until(kStart + 25h));
  EXPECT_FALSE(nightly.until(kStart + 47h + 30min)) << "Saturday";
  EXPECT_EQ(nightly.next(kStart), kStart + 23h);
  EXPECT_EQ(nightly.next(kStart + 23h), kStart + 23h + 7 * 24h) << "the one after that";
}

TEST(WeeklyWindow, WithoutADayItNeverBegins) {
  const WeeklyWindow never{.days = 0, .length = 24h};
  EXPECT_FALSE(never.until(kStart));
  EXPECT_FALSE(never.next(kStart));
}

TEST(WeeklyWindow, FollowsTheClocksOfItsPlace) {
  const WeeklyWindow office{.days = 0x1f, .begins = 9h, .length = 8h, .zone = berlin()};
  const WallTime summer = sys_days(2026y / 7 / 3);  // a Friday
  EXPECT_FALSE(office.until(summer + 7h - 1s));
  EXPECT_EQ(office.until(summer + 7h), summer + 15h);
  EXPECT_FALSE(office.until(kStart + 7h));
  EXPECT_EQ(office.until(kStart + 8h), kStart + 16h);
  EXPECT_EQ(office.next(kStart + 16h), kStart + 3 * 24h + 8h) << "on Monday";
}

TEST(WeeklyWindow, TheDayIsThatOfThePlaceToo) {
  WeeklyWindow window{.days = kFriday, .begins = 0h, .length = 1h, .zone = {.ahead = 13h}};
  EXPECT_TRUE(window.until(kStart - 13h)) << "there it is Friday already";
  EXPECT_FALSE(window.until(kStart + 11h)) << "there it is Saturday";
  window.zone.ahead = -10h;
  EXPECT_FALSE(window.until(kStart));
  EXPECT_TRUE(window.until(kStart + 10h));
}

TEST(WeeklyWindow, OneThatBeginsInAnHourThatIsLeftOutBeginsAfterIt) {
  const WallTime night = sys_days(2026y / 3 / 29);
  const WeeklyWindow window{.begins = 2h + 30min, .length = 1h, .zone = berlin()};
  EXPECT_FALSE(window.until(night + 1h - 1s));
  EXPECT_EQ(window.until(night + 1h), night + 2h);
}

TEST(WeeklyWindow, OneThatBeginsInAnHourThatComesTwiceBeginsOnce) {
  const WallTime night = sys_days(2026y / 10 / 25);
  const WeeklyWindow window{.begins = 2h + 30min, .length = 30min, .zone = berlin()};
  EXPECT_EQ(window.until(night + 30min), night + 1h);
  EXPECT_FALSE(window.until(night + 90min)) << "the second time";
}

/// It began the day before yesterday, and the night between had an hour less.
TEST(WeeklyWindow, OneOfAWholeDayLastsSo) {
  const WallTime before = sys_days(2026y / 3 / 28);
  WeeklyWindow window{.days = 1U << 5, .begins = 23h + 30min, .length = 24h, .zone = berlin()};
  EXPECT_EQ(window.until(before + 22h + 30min), before + 46h + 30min);
  EXPECT_EQ(window.until(before + 46h + 30min - 1s), before + 46h + 30min);
  EXPECT_FALSE(window.until(before + 46h + 30min));
}

}  // namespace
}  // namespace wardmote::judge::notify
