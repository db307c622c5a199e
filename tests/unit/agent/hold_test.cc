// What an earlier life of the agent knew of a thing holds it down until the thing is seen well.

#include "incidents/hold.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "incidents/held_verdict.h"
#include "judge/outcome.h"
#include "judge/verdict.h"

namespace wardmote::incidents {
namespace {

using judge::Outcome;
using judge::Verdict;

class HoldTest : public ::testing::Test {
 protected:
  std::optional<HeldVerdict> looked(Round round) { return hold_.looked(holds_, "etcd", round); }

  std::optional<HeldVerdict> known_ = HeldVerdict{Verdict::kCritical, {}};
  int well_ = 0;
  Holds holds_{.held =
                   [this](const std::string& thing) {
                     EXPECT_EQ(thing, "etcd");
                     return known_;
                   },
               .seen_well =
                   [this](const std::string& thing) {
                     EXPECT_EQ(thing, "etcd");
                     ++well_;
                     known_.reset();
                   }};
  Hold hold_;
};

TEST_F(HoldTest, EndsAfterThreeCleanRoundsInARow) {
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_TRUE(looked(Round::kOther)) << "it counts anew";
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_TRUE(looked(Round::kPart)) << "neither here nor there";
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_EQ(well_, 0);
  EXPECT_FALSE(looked(Round::kClean));
  EXPECT_EQ(well_, 1);
}

TEST_F(HoldTest, RoundsBeforeAnythingWasHeldDoNotCount) {
  const auto later = known_;
  known_.reset();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(looked(Round::kClean));
  known_ = later;
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_TRUE(looked(Round::kClean));
  EXPECT_FALSE(looked(Round::kClean));
}

TEST_F(HoldTest, WhatDoesNotBindIsForgottenAsSoonAndHoldsNothingDown) {
  known_->binds = false;
  EXPECT_FALSE(looked(Round::kPart));
  EXPECT_FALSE(looked(Round::kClean));
  EXPECT_FALSE(looked(Round::kClean));
  EXPECT_EQ(well_, 0);
  EXPECT_FALSE(looked(Round::kClean));
  EXPECT_EQ(well_, 1);
}

TEST_F(HoldTest, NothingIsHeldWhereNobodyRemembers) {
  EXPECT_FALSE(hold_.looked({}, "etcd", Round::kOther));
}

TEST_F(HoldTest, IsAFloorAndNoCeiling) {
  const auto held_down = [](auto seen, Verdict by) {
    hold_down(seen, HeldVerdict{by, {}});
    return seen;
  };
  EXPECT_EQ(held_down(Verdict::kOk, Verdict::kWarning), Verdict::kWarning);
  EXPECT_EQ(held_down(Verdict::kUnknown, Verdict::kWarning), Verdict::kWarning);
  EXPECT_EQ(held_down(Verdict::kCritical, Verdict::kWarning), Verdict::kCritical);
  EXPECT_EQ(held_down(Outcome::kOk, Verdict::kCritical), Outcome::kFail);
  EXPECT_EQ(held_down(Outcome::kUnknown, Verdict::kWarning), Outcome::kWarn);
  EXPECT_EQ(held_down(Outcome::kFail, Verdict::kWarning), Outcome::kFail);
  Outcome seen = Outcome::kWarn;
  hold_down(seen, std::nullopt);
  EXPECT_EQ(seen, Outcome::kWarn);
}

}  // namespace
}  // namespace wardmote::incidents
