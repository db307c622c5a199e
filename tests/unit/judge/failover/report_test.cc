#include "judge/failover/report.h"

#include <gtest/gtest.h>

#include <string>

#include "judge/failover/decision.h"
#include "judge/failover/member.h"

namespace wardmote::judge::failover {
namespace {

using Verdict = Candidacy::Verdict;

Member member(const std::string& name, Copy copy) {
  Member made;
  made.name = name;
  made.nb = made.sb = copy;
  made.position.epoch = 1;
  made.trail = {{1, 1}};
  return made;
}

/// As n2 sees it: n1 is active, and the others follow.
PairReport report() {
  PairReport made;
  made.active = "n1";
  made.own = member("n2", Copy::kFollowing);
  made.members = {member("n1", Copy::kActive), member("n3", Copy::kFollowing)};
  made.record = {.epoch = 1, .claimed = 1, .active = "n1", .trail = {{1, 1}}};
  return made;
}

TEST(CouldTakeOver, WhoFollowsTheActiveNodeCould) {
  const PairReport pair = report();
  EXPECT_EQ(could_take_over(pair.own, pair).verdict, Verdict::kGo);
  EXPECT_EQ(could_take_over(pair.members[1], pair).verdict, Verdict::kGo);
}

TEST(CouldTakeOver, WhatKeepsAnHeirFromItIsSaid) {
  const PairReport pair = report();
  Member other = pair.members[1];
  other.nofailover = true;
  EXPECT_EQ(could_take_over(other, pair).reason, "it has the tag nofailover");
  other = pair.members[1];
  other.observes = true;
  EXPECT_EQ(could_take_over(other, pair).verdict, Verdict::kRefuse);
  other = pair.members[1];
  other.sb = Copy::kHung;
  EXPECT_EQ(could_take_over(other, pair).reason, "it does not follow the active node");
  other = pair.members[1];
  other.unfit = "its disk is full";
  EXPECT_EQ(could_take_over(other, pair).reason, "its disk is full");
}

TEST(CouldTakeOver, WhileNobodyIsActiveEachIsJudgedAmongTheOthers) {
  PairReport pair = report();
  pair.active.clear();
  pair.missing = {"n1"};
  pair.own = member("n2", Copy::kIsolated);
  pair.members = {member("n3", Copy::kIsolated)};
  pair.candidacy = {Verdict::kWait, "what n2 itself found"};
  EXPECT_EQ(could_take_over(pair.own, pair), pair.candidacy);
  EXPECT_EQ(could_take_over(pair.members[0], pair).verdict, Verdict::kWait) << "n2 goes first";
  pair.own.trail = {{9, 9}};
  EXPECT_EQ(could_take_over(pair.members[0], pair).verdict, Verdict::kGo);
  pair.members[0].trail = {{9, 9}};
  EXPECT_EQ(could_take_over(pair.members[0], pair).verdict, Verdict::kRefuse);
  pair.paused_by = "ops";
  EXPECT_EQ(could_take_over(pair.members[0], pair).verdict, Verdict::kWait);
}

}  // namespace
}  // namespace wardmote::judge::failover
