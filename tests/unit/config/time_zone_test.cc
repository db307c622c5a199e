#include "config/time_zone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

/// By the law of the European Union: on the last Sundays of March and October at 01:00 UTC.
TEST(LoadedTimeZone, HasTheChangesOfThePlaceForDecades) {
  const auto berlin = load_time_zone("Europe/Berlin");
  ASSERT_TRUE(berlin) << "are the data of time zones (tzdata) installed?";
  EXPECT_EQ(berlin->name, "Europe/Berlin");
  EXPECT_EQ(berlin->ahead, 1h);
  ASSERT_EQ(berlin->changes.size(), 160U);
  for (int year = 2020; year < 2100; ++year) {
    using std::chrono::last;
    const WallTime march = sys_days(std::chrono::year(year) / 3 / std::chrono::Sunday[last]) + 1h;
    const WallTime october =
        sys_days(std::chrono::year(year) / 10 / std::chrono::Sunday[last]) + 1h;
    const auto* const two = &berlin->changes[static_cast<std::size_t>(2 * (year - 2020))];
    EXPECT_EQ(two[0], (TimeZone::Change{march, 2h}));
    EXPECT_EQ(two[1], (TimeZone::Change{october, 1h}));
  }
}

TEST(LoadedTimeZone, SomePlacesChangeNothing) {
  const auto kolkata = load_time_zone("Asia/Kolkata");
  ASSERT_TRUE(kolkata);
  EXPECT_EQ(kolkata->ahead, 5h + 30min);
  EXPECT_TRUE(kolkata->changes.empty());
}

TEST(LoadedTimeZone, WhatIsNoNameIsRefused) {
  for (const char* const name : {"", "Europe/Berlni", "localtime", "/etc/localtime", "../x",
                                 "file:x", "Europe/Berlin ", "Europe"}) {
    const auto zone = load_time_zone(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().code, Errc::kMissing);
  }
}

}  // namespace
}  // namespace wardmote::config
