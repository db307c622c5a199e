#include "codec/http_date.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

/// 2026-11-20T00:00:00Z.
constexpr WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

std::string read(std::string_view text) {
  const auto at = parse_http_date(text, kNow);
  return at ? format_utc(*at) : "none";
}

TEST(HttpDate, TheThreeFormsOfRfc9110AreOneMoment) {
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(read(text), "1994-11-06T08:49:37.000Z") << text;
  }
  EXPECT_EQ(read("Fri, 31 Dec 2027 23:59:60 GMT"), "2028-01-01T00:00:00.000Z") << "a leap second";
  EXPECT_EQ(read("Fri Nov 20 00:02:00 2026"), "2026-11-20T00:02:00.000Z");
}

TEST(HttpDate, AYearOfTwoDigitsIsNeverMoreThanFiftyYearsAhead) {
  EXPECT_EQ(read("Friday, 20-Nov-76 00:00:00 GMT"), "2076-11-20T00:00:00.000Z");
  EXPECT_EQ(read("Sunday, 20-Nov-77 00:00:00 GMT"), "1977-11-20T00:00:00.000Z");
  EXPECT_EQ(read("Friday, 20-Nov-26 00:00:00 GMT"), "2026-11-20T00:00:00.000Z");
}

TEST(HttpDate, WhatIsNoneIsNone) {
  for (const char* text :
       {"", "120", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 31 Feb 2026 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99994 08:49:37 GMT",
        "Nov, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1969 08:49:37 GMT"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

}  // namespace
}  // namespace wardmote::codec
