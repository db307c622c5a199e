#include "base/utc.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/time.h"

namespace wardmote {
namespace {

TEST(ParseUtc, ReadsWhatFormatUtcWritesAndLessAndMorePrecise) {
  const auto read = [](std::string_view text) {
    const auto at = parse_utc(text);
    return at ? format_utc(*at) : "none";
  };
  EXPECT_EQ(read("2026-11-20T07:52:35.125Z"), "2026-11-20T07:52:35.125Z");
  EXPECT_EQ(read("2026-11-20T07:52:35Z"), "2026-11-20T07:52:35.000Z");
  EXPECT_EQ(read("2026-11-20T07:52:35.1250009999999Z"), "2026-11-20T07:52:35.125Z");
  for (const char* text :
       {"", "Z", "2026-11-20", "2026-11-20T07:52Z", "2026-11-20T07:52:35", "2026-11-20 07:52:35Z",
        "2026-11-20T07:52:35+01:00", "2026-11-20T07:52:35.Z", "2026-11-20T07:52:35.x5Z",
        "2026-11-31T07:52:35Z", "2026-11-20T24:00:00Z", "1969-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z", "+026-11-20T07:52:35Z"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

}  // namespace
}  // namespace wardmote
