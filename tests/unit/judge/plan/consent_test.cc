#include "judge/plan/consent.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "unit/judge/raft/fake_cluster.h"
#include "unit/judge/raft/repair/plan_fixture.h"
#include "unit/judge/raft/repair/plan_site.h"

namespace wardmote::judge::plan {
namespace {

using namespace std::chrono_literals;
using namespace raft::repair;
using Words = std::vector<std::string>;

class PlanConsent : public PlanFixture {
 protected:
  PlanConsent() { plan_.approver = "ann"; }
  std::string why(const std::vector<Policy>& policies) {
    return withdrawn_by_policy(plan_.stored(), policies).value_or("");
  }
  static RaftRemedy remedy() { return {{"ovn-nb", "OVN_Northbound", {}}, {}}; }
  static bool is_same(const RepairPlan& made, const RepairPlan& fresh) {
    return remedy().is_same(made.stored(), fresh.stored());
  }
  static bool is_rejected_by(const RepairPlan& rejected, const RepairPlan& fresh) {
    return remedy().is_rejected_by(rejected.stored(), fresh.stored());
  }
};

TEST_F(PlanConsent, StandsWhileThePolicyDoes) {
  Policy other = policy(false);
  other.name = "other";
  EXPECT_EQ(why({other, policy()}), "");
  EXPECT_EQ(why({other}), "its policy is gone");
  EXPECT_EQ(why({}), "its policy is gone");
}

TEST_F(PlanConsent, EndsWithTheMode) {
  EXPECT_EQ(why({policy(false)}), "policy repair only observes: set 'mode: act'");
}

TEST_F(PlanConsent, NeedsTheWordThatNoOtherAgentActs) {
  Policy alone = policy();
  alone.sole = false;
  EXPECT_NE(why({alone}).find("'sole: true'"), std::string::npos) << why({alone});
}

TEST_F(PlanConsent, EndsWithTheClustersAndTheFindings) {
  Policy changed = policy();
  changed.clusters = {"ovn-sb", "ovn-nb"};
  EXPECT_EQ(why({changed}), "");
  changed.clusters = {"ovn-sb"};
  EXPECT_EQ(why({changed}), "policy repair is not for ovn-nb any more");
  changed = policy();
  changed.on = {Code::kRaftStaleMember, Code::kRaftJoiningStuck};
  EXPECT_EQ(why({changed}), "policy repair is not for this finding any more");
  plan_.code.reset();
  EXPECT_EQ(why({changed}), "") << "it was asked for, and members may be rebuilt";
  changed.on = {Code::kRaftStaleMember};
  EXPECT_EQ(why({changed}), "policy repair is not for this finding any more");
}

TEST_F(PlanConsent, OfThePolicyIsNotThatOfAPerson) {
  EXPECT_EQ(why({policy(true, true)}), "") << "ann has approved it";
  plan_.approver = "policy repair";
  EXPECT_EQ(why({policy(true, true)}), "policy repair wants somebody's approval now");
  EXPECT_EQ(why({policy(true, false)}), "");
}

TEST_F(PlanConsent, APlanIsTheSameWhileItsTargetIs) {
  const RepairPlan made = plan_;
  EXPECT_TRUE(is_same(made, plan_));
  plan_.server = *raft::parse_member_id("1111");
  EXPECT_TRUE(is_same(made, plan_)) << "a list shows four digits";
  plan_.address = "tcp:ctl-9:6643";
  EXPECT_FALSE(is_same(made, plan_));
  plan_ = made;
  plan_.server = kNew;
  EXPECT_FALSE(is_same(made, plan_));
  plan_.server = {};
  plan_.address.clear();
  EXPECT_TRUE(is_same(made, plan_)) << "an agent that has just started may not know who it was";
  EXPECT_FALSE(is_same(plan_, made)) << "more is known now, and the steps are others";
  plan_ = made;
  plan_.member = "ctl-2";
  EXPECT_FALSE(is_same(made, plan_));
  plan_ = made;
  plan_.target.name = "ovn-sb";
  EXPECT_FALSE(is_same(made, plan_));
}

TEST_F(PlanConsent, ARemovalIsTheSameForTheSameServerOnly) {
  remove_only();
  const RepairPlan made = plan_;
  plan_.server = kNew;
  EXPECT_FALSE(is_same(made, plan_));
  plan_.server = {};
  EXPECT_TRUE(is_same(made, plan_));
  plan_.address = "tcp:ctl-9:6643";
  EXPECT_FALSE(is_same(made, plan_));
  plan_ = made;
  plan_.work = Work::kRebuildMember;
  EXPECT_FALSE(is_same(made, plan_));
}

TEST_F(PlanConsent, ARejectionIsOfTheMemberAndOfTheServer) {
  const RepairPlan rejected = plan_;
  plan_.server = kNew;
  EXPECT_TRUE(is_rejected_by(rejected, plan_)) << "the same member";
  remove_only();
  EXPECT_FALSE(is_rejected_by(rejected, plan_)) << "another server";
  plan_.server = kOld;
  EXPECT_TRUE(is_rejected_by(rejected, plan_)) << "its server, kicked by another plan";
  plan_.target.name = "ovn-sb";
  EXPECT_TRUE(is_rejected_by(rejected, plan_)) << "the same server of a cluster that was renamed";
  plan_.server = kNew;
  EXPECT_FALSE(is_rejected_by(rejected, plan_));
}

// What people and policies say, over time.

TEST(PlanOrders, APolicyThatNeedsNobodyProposesOnceAndApprovesOnce) {
  Site site = site_with_ghost(policy());
  std::vector<plan::Change> changes = site.planner.take_changed();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].word, "proposed");
  EXPECT_EQ(changes[0].plan.state, PlanState::kProposed);
  EXPECT_EQ(changes[0].plan.approver, "");
  EXPECT_EQ(changes[1].word, "approved");
  EXPECT_EQ(changes[1].plan.state, PlanState::kRunning);
  EXPECT_EQ(changes[1].plan.approver, "policy repair");
  EXPECT_EQ(changes[1].plan.begun, changes[1].plan.changed);
}

TEST(PlanOrders, SomebodyElsesApprovalIsTheSecondRow) {
  Site site = site_with_ghost(policy(true, true));
  EXPECT_EQ(site.words(), Words{"proposed"});
  EXPECT_FALSE(site.planner.approve(1, "ann", site.cluster.now()));
  EXPECT_EQ(site.words(), Words{"approved"});
  EXPECT_EQ(site.planner.approve(1, "ann", site.cluster.now()), "it is running already");
}

TEST(PlanOrders, ARejectionOutlivesARestart) {
  Site site = site_with_ghost(policy());
  EXPECT_FALSE(site.planner.reject(1, "ann", "by hand", site.cluster.now()));
  EXPECT_EQ(site.the_plan().reason, "by ann: by hand");
  site.restart();
  site.watch(120s);
  EXPECT_EQ(site.the_plan().state, PlanState::kRejected);
  EXPECT_EQ(site.refusal(), "plan 1 for it was rejected by ann: by hand");
  site.cluster.strike(2);
  site.watch(10s);
  EXPECT_TRUE(site.the_plan().lifted) << "what was rejected is gone";
  EXPECT_EQ(site.words(), Words{"lifted"});
}

TEST(PlanOrders, AMemberThatWasWellSinceTheRejectionIsPlannedForAgain) {
  Site site(3);
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(120s);
  EXPECT_FALSE(site.planner.reject(1, "ann", "", site.cluster.now()));
  EXPECT_EQ(site.the_plan().reason, "by ann");
  site.watch(120s);
  EXPECT_EQ(site.the_plan().state, PlanState::kRejected);
  site.cluster.node(2).silence = ReasonCode::kNone;
  site.cluster.heal(2);
  site.watch(30s);
  EXPECT_TRUE(site.the_plan().lifted);
  site.cluster.kill(2);
  site.watch(120s);
  ASSERT_EQ(site.planner.plans().size(), 2U);
  EXPECT_EQ(site.planner.plans().at(2).state, PlanState::kRunning);
}

TEST(PlanOrders, WhatRunsCanBeRejected) {
  Site site = site_with_ghost(policy());
  EXPECT_EQ(site.the_plan().state, PlanState::kRunning);
  EXPECT_FALSE(site.planner.reject(1, "ann", "", site.cluster.now()));
  EXPECT_EQ(site.planner.reject(1, "bob", "", site.cluster.now()), "it is rejected already");
  EXPECT_EQ(site.planner.reject(2, "bob", "", site.cluster.now()), "there is no such plan");
  EXPECT_EQ(site.planner.approve(2, "bob", site.cluster.now()), "there is no such plan");
}

TEST(PlanOrders, WhoAsksForAMemberThatWasRejectedGetsItsPlan) {
  Site site(3);
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(120s);
  EXPECT_FALSE(site.planner.reject(1, "ann", "", site.cluster.now()));
  const auto asked =
      site.planner.propose(site.remedy({"ctl-3"}), "ctl-3", "bob", site.cluster.now());
  ASSERT_TRUE(asked) << asked.error();
  EXPECT_EQ(*asked, 2);
  EXPECT_EQ(site.planner.plans().at(2).proposer, "bob");
  site.watch(30s);
  EXPECT_EQ(site.planner.plans().at(2).state, PlanState::kProposed)
      << "what somebody asks for waits for approval";
  const auto again =
      site.planner.propose(site.remedy({"ctl-3"}), "ctl-3", "bob", site.cluster.now());
  EXPECT_EQ(again.value_or(0), 2);
  const auto none = site.planner.propose(site.remedy(), "ctl-2", "bob", site.cluster.now());
  EXPECT_EQ(none.error(), "ctl-2 has no commands under 'repair'");
  const auto nobody =
      site.planner.propose(site.remedy({"ctl-3"}), "ctl-9", "bob", site.cluster.now());
  EXPECT_EQ(nobody.error(), "there is no such member");
}

TEST(PlanOrders, NobodyCanAskWhereNoPolicyRebuilds) {
  Policy ghosts = policy();
  ghosts.on = {Code::kRaftStaleMember};
  Policy elsewhere = policy();
  elsewhere.clusters = {"ovn-sb"};
  Site site(3, {ghosts, elsewhere});
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(60s);
  const auto asked =
      site.planner.propose(site.remedy({"ctl-3"}), "ctl-3", "bob", site.cluster.now());
  EXPECT_EQ(asked.error(), "no policy for ovn-nb lets the agent rebuild the member");
}

TEST(PlanOrders, APlanKeepsItsNumberOverARestart) {
  Site site = site_with_ghost(policy(true, true));
  EXPECT_EQ(site.words(), Words{"proposed"});
  site.restart({policy(true, true)});
  site.watch(5s);
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  EXPECT_EQ(site.the_plan().reason, "its cause was not seen again since the agent started");
  EXPECT_EQ(site.planner.approve(1, "ann", site.cluster.now()),
            "its cause was not seen again since the agent started");
  site.watch(60s);
  EXPECT_EQ(site.words(), Words{});
  EXPECT_EQ(site.the_plan().reason, "");
  EXPECT_FALSE(site.planner.approve(1, "ann", site.cluster.now()));
}

TEST(PlanOrders, AfterARestartNothingBeginsBeforeTheCauseIsSeenAgain) {
  Site site = site_with_ghost(policy(true, true));
  site.restart();
  site.watch(8s);
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  site.watch(10s);
  EXPECT_EQ(site.the_plan().state, PlanState::kRunning);
}

TEST(PlanOrders, APlanWhoseCauseEndedWhileTheAgentWasAwayIsWithdrawn) {
  Site site = site_with_ghost(policy(true, true));
  site.restart({policy(true, true)});
  site.cluster.strike(2);
  site.watch(2s);
  EXPECT_EQ(site.the_plan().state, PlanState::kWithdrawn);
  EXPECT_NE(site.the_plan().reason.find("not listed any more"), std::string::npos);
}

TEST(PlanOrders, ACauseThatIsNotSeenAgainIsGone) {
  Site site = site_with_ghost(policy(true, true));
  site.restart({policy(true, true)});
  for (int second = 0; second < 299; ++second) {
    site.started = site.cluster.now();
    site.watch(1s);
  }
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  site.started = site.cluster.now();
  site.watch(2s);
  EXPECT_EQ(site.the_plan().state, PlanState::kWithdrawn);
  EXPECT_EQ(site.the_plan().reason, "its cause is gone");
}

TEST(PlanOrders, NumbersAreNeverGivenTwice) {
  Site site(3, {policy(true, true)});
  site.planner.number_after(41);
  site.planner.number_after(7);
  EXPECT_EQ(site.planner.last_number(), 41);
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  EXPECT_EQ(site.the_plan().id, 42);
  EXPECT_EQ(site.planner.last_number(), 42);
}

TEST(PlanOrders, APolicyWithoutTheOperatorsWordObservesAndSaysWhy) {
  Policy alone = policy();
  alone.sole = false;
  Site site = site_with_ghost(alone);
  EXPECT_EQ(site.the_plan().state, PlanState::kObserved);
  EXPECT_NE(site.the_plan().reason.find("'sole: true'"), std::string::npos);
  EXPECT_NE(site.planner.approve(1, "ann", site.cluster.now())->find("'sole: true'"),
            std::string::npos);
  EXPECT_EQ(site.words(), Words{"observed"});
  site.planner.set_policies({policy(true, true)});
  EXPECT_EQ(site.planner.approve(1, "ann", site.cluster.now()),
            "it was not looked at under its policy yet");
}

TEST(PlanOrders, APlanOfAPolicyForOtherThingsIsWithdrawn) {
  for (const bool clusters : {true, false}) {
    Site site = site_with_ghost(policy(true, true));
    Policy changed = policy(true, true);
    if (clusters) changed.clusters = {"ovn-sb"};
    if (!clusters) changed.on = {Code::kRaftMemberDown};
    site.planner.set_policies({changed});
    EXPECT_TRUE(site.planner.approve(1, "ann", site.cluster.now()));
    site.watch(1s);
    EXPECT_EQ(site.the_plan().state, PlanState::kWithdrawn);
  }
}

TEST(PlanOrders, WhatIsUnclearGoesOnWhenSomebodyWhoMayHasLooked) {
  Site site = site_with_ghost(policy(true, true));
  Plan plan = site.the_plan();
  plan.state = PlanState::kUnclear;
  plan.steps[0].state = StepState::kDone;
  plan.steps[1].state = StepState::kBegun;
  plan.steps[1].tries = 3;
  plan.approver = "ann";
  site.planner.update(plan);
  site.planner.set_policies({policy(false)});
  EXPECT_TRUE(site.planner.approve(1, "bob", site.cluster.now()));
  EXPECT_EQ(site.the_plan().state, PlanState::kUnclear);
  EXPECT_EQ(site.the_plan().approver, "ann");
  site.planner.set_policies({policy(true, true)});
  EXPECT_FALSE(site.planner.approve(1, "bob", site.cluster.now()));
  EXPECT_EQ(site.the_plan().state, PlanState::kRunning);
  EXPECT_EQ(site.the_plan().approver, "bob");
  EXPECT_EQ(site.the_plan().changed, site.cluster.now());
  EXPECT_EQ(site.the_plan().steps[1].state, StepState::kBegun) << "it may still show";
  EXPECT_EQ(site.the_plan().steps[1].tries, 0);
}

TEST(PlanOrders, ARejoinThatIsApprovedOnceMoreIsDoneOnceMore) {
  Site site = site_with_ghost(policy(true, true));
  Plan plan = site.the_plan();
  plan.state = PlanState::kUnclear;
  plan.steps = {step_of(StepKind::kRejoin)};
  plan.steps[0].state = StepState::kBegun;
  plan.steps[0].tries = 1;
  site.planner.update(plan);
  EXPECT_FALSE(site.planner.approve(1, "bob", site.cluster.now()));
  EXPECT_EQ(site.the_plan().steps[0].state, StepState::kWaiting);
  EXPECT_EQ(site.the_plan().steps[0].tries, 1);
}

TEST(PlanOrders, APauseHoldsItsClusterUntilItEnds) {
  Planner planner({policy()});
  const TimePoint now{10h};
  planner.pause({"ovn-nb", "ann", now + 1h});
  EXPECT_EQ(planner.paused("ovn-nb", now), "ovn-nb is paused by ann");
  EXPECT_FALSE(planner.paused("ovn-sb", now));
  EXPECT_FALSE(planner.paused("ovn-nb", now + 1h));
  planner.pause({"", "bob", std::nullopt});
  EXPECT_EQ(planner.paused("ovn-sb", now + 100h), "everything is paused by bob");
  EXPECT_TRUE(planner.resume(""));
  EXPECT_FALSE(planner.resume(""));
  EXPECT_FALSE(planner.paused("ovn-sb", now));
}

// Two clusters changed their names in a reload, and the paused one was repaired.
TEST(PlanOrders, APauseHoldsWhatHadTheNameUnderAnotherName) {
  Planner planner({policy()});
  const TimePoint now{10h};
  planner.pause({"a", "ann", std::nullopt, {"1a97"}});
  const std::vector<std::string> one = {"1a97", "asked at /run/a.ctl"};
  const std::vector<std::string> other = {"ffff", "asked at /run/b.ctl"};
  EXPECT_EQ(planner.paused("b", now, one), "a is paused by ann, and b is what had this name");
  EXPECT_EQ(planner.paused("a", now, other), "a is paused by ann") << "nobody has resumed it";
  EXPECT_FALSE(planner.paused("b", now, other));
  planner.pause({"c", "ann", std::nullopt});
  EXPECT_FALSE(planner.paused("b", now)) << "nobody knows what either is";
  // It was given when the cluster did not answer, and nobody knew its id.
  planner.pause({"d", "ann", std::nullopt, {"asked at /run/b.ctl"}});
  EXPECT_EQ(planner.paused("b", now, other), "d is paused by ann, and b is what had this name");
}

TEST(PlanOrders, WhatIsLearntOfAPausedClusterBelongsToThePause) {
  Planner planner({policy()});
  const TimePoint now{10h};
  const std::vector<std::string> silent = {"asked at /run/a.ctl"};
  const std::vector<std::string> answering = {"1a97", "asked at /run/a.ctl"};
  const std::vector<std::string> another = {"ffff", "asked at /run/b.ctl"};
  planner.pause({"a", "ann", std::nullopt, silent});
  EXPECT_FALSE(planner.learn("a", another)) << "it is not what was paused";
  EXPECT_FALSE(planner.learn("b", answering)) << "b is not paused";
  ASSERT_TRUE(planner.learn("a", answering));
  EXPECT_FALSE(planner.learn("a", answering)) << "that is known";
  const std::vector<std::string> moved = {"1a97", "asked at /run/c.ctl"};
  EXPECT_TRUE(planner.paused("c", now, moved));
  EXPECT_FALSE(planner.paused("b", now, another));
  planner.pause({"n", "ann", std::nullopt});
  EXPECT_TRUE(planner.learn("n", another)) << "it had never been looked at";
}

TEST(PlanOrders, OldPlansAreForgottenAndRejectionsThatHoldAreNot) {
  Planner planner({policy()});
  Plan plan;
  plan.steps = {step_of(StepKind::kVerify)};
  for (std::int64_t id = 1; id <= 204; ++id) {
    plan.id = id;
    plan.state = id <= 2 ? PlanState::kRejected : PlanState::kDone;
    plan.lifted = id == 2;
    if (id == 3) plan.state = PlanState::kProposed;
    planner.update(plan);
  }
  EXPECT_EQ(planner.take_forgotten(), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(planner.plans().size(), 202U);
  EXPECT_TRUE(planner.plans().contains(1));
  EXPECT_TRUE(planner.plans().contains(3));
}

TEST(PlanOrders, CaresForWhereSomethingIsOrMayBePlanned) {
  Policy one = policy();
  one.clusters = {"ovn-nb"};
  Planner planner({one});
  EXPECT_TRUE(planner.cares_for({ThingKind::kCluster, "ovn-nb"}));
  EXPECT_FALSE(planner.cares_for({ThingKind::kCluster, "ovn-sb"}));
  Plan plan;
  plan.id = 1;
  plan.target = {ThingKind::kCluster, "ovn-sb"};
  plan.state = PlanState::kUnclear;
  planner.update(plan);
  EXPECT_TRUE(planner.cares_for({ThingKind::kCluster, "ovn-sb"}));
  plan.state = PlanState::kDone;
  planner.update(plan);
  EXPECT_FALSE(planner.cares_for({ThingKind::kCluster, "ovn-sb"}));
}

TEST(PlanOrders, AMemberThatIsStuckJoiningGetsItsPlan) {
  Site site(3);
  site.watch(5s);
  const std::size_t joiner =
      site.cluster.add_node("ctl-4", "dddd0004-0000-4000-8000-000000000004", "tcp:10.0.0.4:6643");
  site.cluster.node(joiner).standing = raft::Standing::kJoining;
  site.watch(600s);
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.code, Code::kRaftJoiningStuck);
  EXPECT_EQ(plan.member, "ctl-4");
  EXPECT_EQ(plan.state, PlanState::kRunning);
  ASSERT_EQ(plan.steps.size(), 4U) << "it is not listed, so nobody is kicked";
  EXPECT_EQ(decide(site.the_plan(), site.remedy(), {}, site.cluster.now()).move, Move::kFinish);
}

}  // namespace
}  // namespace wardmote::judge::plan
