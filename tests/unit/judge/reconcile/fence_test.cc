#include "judge/reconcile/fence.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wardmote::judge::reconcile {
namespace {

TEST(Fence, IsWishedForByThreeWords) {
  EXPECT_EQ(fence_wish("none"), FenceWish::kNone);
  EXPECT_EQ(fence_wish("auto"), FenceWish::kAuto);
  EXPECT_EQ(fence_wish("require"), FenceWish::kRequire);
  for (const std::string_view word : {"", "Auto", "required", "yes"})
    EXPECT_EQ(fence_wish(word), std::nullopt) << word;
}

TEST(Fence, IsUpWhereTheServerCanAndWhereItHasToBeNothingElseIsWritten) {
  EXPECT_TRUE(is_to_fence(FenceWish::kAuto, FenceOffer::kYes, "").value());
  EXPECT_TRUE(is_to_fence(FenceWish::kRequire, FenceOffer::kYes, "").value());
  EXPECT_FALSE(is_to_fence(FenceWish::kAuto, FenceOffer::kNo, "").value());
  EXPECT_FALSE(is_to_fence(FenceWish::kRequire, FenceOffer::kNo, "").has_value());
}

TEST(Fence, OfAServerThatDidNotSayNothingIsAssumed) {
  for (const FenceWish wish : {FenceWish::kAuto, FenceWish::kRequire}) {
    const Result<bool> told = is_to_fence(wish, FenceOffer::kUnknown, "503");
    ASSERT_FALSE(told.has_value());
    EXPECT_TRUE(told.error().describe().contains("503"));
  }
}

TEST(Fence, NobodyAsksAServerWhoseConfigurationWantsNone) {
  for (const FenceOffer offer : {FenceOffer::kYes, FenceOffer::kNo, FenceOffer::kUnknown})
    EXPECT_FALSE(is_to_fence(FenceWish::kNone, offer, "503").value());
}

TEST(Fence, IsRaisedByALaterLeaderAndNeverLowered) {
  EXPECT_TRUE(is_to_raise({}, 7).value());
  EXPECT_TRUE(is_to_raise({.there = true, .value = 6}, 7).value());
  EXPECT_FALSE(is_to_raise({.there = true, .value = 7}, 7).value());
  EXPECT_FALSE(is_to_raise({.there = true, .value = 8}, 7).has_value());
}

TEST(Fence, ATokenThatNobodyCanReadMayBeALaterOne) {
  EXPECT_FALSE(is_to_raise({.there = true, .value = std::nullopt}, 7).has_value());
}

TEST(Fence, SaysWhoseWritesPass) {
  using Kind = FenceReport::Kind;
  EXPECT_TRUE(describe({.kind = Kind::kPolicy, .token = 12}).contains("before token 12"));
  EXPECT_FALSE(describe({.kind = Kind::kPolicy}).contains("token 0"));
  EXPECT_TRUE(describe({.kind = Kind::kUnknown, .why = "no answer"}).contains("no answer"));
  EXPECT_EQ(describe(FenceReport{}), "");
  EXPECT_EQ(to_string(Kind::kUnasked), "");
}

}  // namespace
}  // namespace wardmote::judge::reconcile
