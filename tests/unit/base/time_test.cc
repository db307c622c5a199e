#include "base/time.h"

#include <gtest/gtest.h>

namespace wardmote {
namespace {

using namespace std::chrono_literals;

TEST(FormatDuration, RoundsToWhatPeopleRead) {
  EXPECT_EQ(format_duration(340ms), "340ms");
  EXPECT_EQ(format_duration(3250ms), "3.2s");
  EXPECT_EQ(format_duration(3min + 12s), "3m12s");
  EXPECT_EQ(format_duration(4h + 3min), "4h03m");
  EXPECT_EQ(format_duration(52h), "2d04h");
  EXPECT_EQ(format_duration(-5s), "-5.0s");
}

TEST(FormatUtc, IsRfc3339) {
  EXPECT_EQ(format_utc(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(WallTime{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 7h +
                                52min + 35s + 125ms}),
            "2026-11-20T07:52:35.125Z");
}

}  // namespace
}  // namespace wardmote
