#include <gtest/gtest.h>

#include "base/time.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, TakesAWholeNumberAndAUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("1s"), 1s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "1", "s", "1 s", "-1s", "+1s", "1.5s", "1d", "1S", "1s ", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_duration("9223372036s"), 9223372036s);
  EXPECT_EQ(parse_duration("9223372037s"), std::nullopt);
}

TEST(SpellDuration, UsesTheLargestUnitThatIsExact) {
  EXPECT_EQ(spell_duration(900ms), "900ms");
  EXPECT_EQ(spell_duration(1s), "1s");
  EXPECT_EQ(spell_duration(1500ms), "1500ms");
  EXPECT_EQ(spell_duration(90s), "90s");
  EXPECT_EQ(spell_duration(2min), "2m");
  EXPECT_EQ(spell_duration(24h), "24h");
  EXPECT_EQ(spell_duration(0s), "0s");
}

}  // namespace
}  // namespace wardmote
