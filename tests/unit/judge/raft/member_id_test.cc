#include "judge/raft/member_id.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace wardmote::judge::raft {
namespace {

constexpr const char* kUuid = "dea645fa-f66d-419f-89d2-9ef5ed65767e";

TEST(MemberId, AUuidSurvivesTheRoundTrip) {
  const auto id = parse_member_id(kUuid);
  ASSERT_TRUE(id);
  EXPECT_TRUE(id->full());
  EXPECT_EQ(to_string(*id), kUuid);
  EXPECT_EQ(short_name(*id), "dea6");
  EXPECT_EQ(parse_member_id("DEA645FAF66D419F89D29EF5ED65767E"), id);
}

TEST(MemberId, FourDigitsAreItsBeginning) {
  const auto four = parse_member_id("dea6");
  ASSERT_TRUE(four);
  EXPECT_FALSE(four->full());
  EXPECT_EQ(to_string(*four), "dea6");
  EXPECT_TRUE(compatible(*four, *parse_member_id(kUuid)));
  EXPECT_FALSE(compatible(*parse_member_id("dea7"), *parse_member_id(kUuid)));
}

TEST(MemberId, AnEtcdIdHasSixteenDigits) {
  const auto id = parse_member_id("8e9e05c52164694d");
  ASSERT_TRUE(id);
  EXPECT_TRUE(id->full());
  EXPECT_EQ(to_string(*id), "8e9e05c52164694d");
}

TEST(MemberId, WhatIsNoId) {
  for (const char* text : {"", "-", "alpha", "dea6 ", "dea645fa-f66d-419f-89d2-9ef5ed65767e0"}) {
    EXPECT_FALSE(parse_member_id(text)) << text;
  }
}

TEST(MemberId, UnknownIsCompatibleWithNothing) {
  EXPECT_FALSE(compatible({}, {}));
  EXPECT_FALSE(compatible({}, *parse_member_id("dea6")));
  EXPECT_EQ(to_string(MemberId{}), "");
  EXPECT_EQ(short_name(MemberId{}), "");
}

TEST(MemberId, ZeroIsWhatAJoiningServerReports) {
  EXPECT_TRUE(parse_member_id("00000000-0000-0000-0000-000000000000")->zero());
  EXPECT_FALSE(parse_member_id(kUuid)->zero());
  EXPECT_FALSE(MemberId{}.zero());
}

RC_GTEST_PROP(MemberId, AnyBeginningIsCompatibleAndTextIsStable,
              (std::uint64_t high, std::uint64_t low)) {
  const MemberId full{.high = high, .low = low, .digits = 32};
  const std::string text = to_string(full);
  RC_ASSERT(parse_member_id(text) == full);
  const auto length = *rc::gen::inRange<std::size_t>(1, text.size());
  const auto beginning = parse_member_id(text.substr(0, length));
  RC_ASSERT(beginning.has_value());
  RC_ASSERT(compatible(*beginning, full));
}

}  // namespace
}  // namespace wardmote::judge::raft
