#include "judge/plan/planner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "judge/finding.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/raft/assess.h"
#include "judge/raft/repair/conditions.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/fake_cluster.h"
#include "unit/judge/raft/repair/plan_site.h"

namespace wardmote::judge::plan {
namespace {

using namespace std::chrono_literals;
using namespace raft::repair;

TEST(Planner, AGhostIsKickedOnceItHasStoodForTheTimeOfThePolicy) {
  Site site(3);
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(20s);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_NE(site.refusal().find("it has not stood for 30s"), std::string::npos) << site.refusal();
  site.watch(30s);
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.work, Work::kRemoveServer);
  EXPECT_EQ(plan.state, PlanState::kRunning);
  EXPECT_EQ(plan.server, site.cluster.node(2).id);
  ASSERT_EQ(plan.steps.size(), 3U);
  EXPECT_EQ(plan.steps[1].name, "kick");
}

// Its member was being rebuilt, and was silent for that moment.
TEST(Planner, AFindingThatNobodyHasConfirmedSinceMakesNoPlan) {
  Site site(3);
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(20s);
  ASSERT_TRUE(site.planner.plans().empty());
  site.last.findings.front().confirmed = false;
  site.planner.consider(site.remedy(), site.last.findings, std::nullopt, site.cluster.now() + 60s);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_EQ(site.refusal(), "nobody has confirmed it since");
  site.last.findings.front().confirmed = true;
  site.planner.consider(site.remedy(), site.last.findings, std::nullopt, site.cluster.now() + 60s);
  EXPECT_EQ(site.planner.plans().size(), 1U);
}

TEST(Planner, APolicyThatObservesBeginsNothingAndCannotBeApproved) {
  Site site(3, {policy(false)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  EXPECT_EQ(site.the_plan().state, PlanState::kObserved);
  EXPECT_TRUE(site.planner.approve(site.the_plan().id, "ann", site.cluster.now()));
  EXPECT_EQ(site.the_plan().state, PlanState::kObserved);
}

TEST(Planner, APlanFollowsAPolicyThatChanges) {
  Site site(3, {policy(false)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  EXPECT_EQ(site.the_plan().state, PlanState::kObserved);
  site.planner.set_policies({policy(true, true)});
  site.watch(1s);
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  site.planner.set_policies({policy(false)});
  site.watch(1s);
  EXPECT_EQ(site.the_plan().state, PlanState::kObserved);
  site.planner.set_policies({});
  site.watch(1s);
  EXPECT_EQ(site.the_plan().state, PlanState::kWithdrawn);
}

TEST(Planner, APlanThatNeedsApprovalWaitsForIt) {
  Site site(3, {policy(true, true)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  const std::int64_t id = site.the_plan().id;
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  EXPECT_FALSE(site.planner.approve(id, "ann", site.cluster.now()));
  EXPECT_EQ(site.the_plan().state, PlanState::kRunning);
  EXPECT_EQ(site.the_plan().approver, "ann");
}

TEST(Planner, WhatWasRejectedIsNotPlannedAgainWhileItStands) {
  Site site(3, {policy(true, true)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  EXPECT_FALSE(site.planner.reject(site.the_plan().id, "ann", "by hand", site.cluster.now()));
  site.watch(60s);
  EXPECT_EQ(site.the_plan().state, PlanState::kRejected);
}

TEST(Planner, AStormBeginsNothing) {
  Site site(3);
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s, "a storm rages");
  EXPECT_EQ(site.the_plan().state, PlanState::kProposed);
  EXPECT_EQ(site.the_plan().reason, "a storm rages");
  site.watch(1s);
  EXPECT_EQ(site.the_plan().state, PlanState::kRunning);
}

TEST(Planner, APlanWhoseCauseIsGoneIsWithdrawn) {
  Site site(3, {policy(true, true)});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  site.cluster.strike(2);
  site.watch(60s);
  EXPECT_EQ(site.the_plan().state, PlanState::kWithdrawn);
}

TEST(Planner, AMemberThatIsDownIsRebuiltWhenTheOthersAreWell) {
  Site site(3);
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(120s);
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.work, Work::kRebuildMember);
  EXPECT_EQ(plan.member, "ctl-3");
  EXPECT_EQ(plan.server, site.cluster.node(2).id);
  ASSERT_EQ(plan.steps.size(), 5U);
}

// All went down at once. Two came back, and two seconds later the third was wiped while it booted.
TEST(Planner, TheTimeWithoutAQuorumIsNoneOfThePolicys) {
  Site site(3);
  site.watch(5s);
  for (std::size_t i = 0; i < 3; ++i) site.cluster.kill(i);
  site.watch(120s);
  site.cluster.heal(0);
  site.cluster.heal(1);
  site.cluster.elect(0);
  site.watch(20s);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_NE(site.refusal().find("it has not stood for 30s"), std::string::npos) << site.refusal();
  site.watch(30s);
  EXPECT_EQ(site.the_repair().member, "ctl-3");
}

TEST(Planner, OneMemberAtATime) {
  Site site(5);
  site.watch(5s);
  site.cluster.kill(3);
  site.cluster.kill(4);
  site.watch(120s);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_NE(site.refusal().find("one member at a time"), std::string::npos) << site.refusal();
}

TEST(Planner, NothingThatWouldLoseQuorum) {
  Site site(2);
  site.watch(5s);
  site.cluster.kill(1);
  site.watch(120s);
  EXPECT_TRUE(site.planner.plans().empty());
}

TEST(Planner, TheBudgetAndTheCooldownHoldBack) {
  Policy once = policy();
  Site site(3, {once});
  site.watch(5s);
  leave_a_ghost(site.cluster);
  site.watch(60s);
  Plan done = site.the_plan();
  done.state = PlanState::kDone;
  done.changed = site.cluster.now();
  site.planner.update(done);
  site.watch(60s);
  ASSERT_EQ(site.planner.plans().size(), 2U);
  const Plan& second = site.planner.plans().rbegin()->second;
  EXPECT_EQ(second.state, PlanState::kProposed);
  EXPECT_NE(second.reason.find("ended less than 10m ago"), std::string::npos) << second.reason;
  site.watch(601s);
  EXPECT_EQ(second.state, PlanState::kProposed);
  EXPECT_NE(second.reason.find("1 plans within 1h"), std::string::npos) << second.reason;
}

// The history of kube-ovn (PRs 6363, 6721, 7138): nothing of this may ever lead to an act.

TEST(Planner, APlanOfAnEarlierLifeSaysThatItsCauseWasNotSeenYet) {
  Planner planner({policy(true, true)});
  Plan plan;
  plan.id = 7;
  plan.state = PlanState::kProposed;
  plan.reason = "waits for approval";
  planner.recall(plan, TimePoint{1h});
  EXPECT_EQ(planner.plans().at(7).reason, "its cause was not seen again since the agent started");
  plan.id = 8;
  plan.state = PlanState::kRunning;
  planner.recall(plan, TimePoint{1h});
  EXPECT_EQ(planner.plans().at(8).reason, "waits for approval") << "it runs";
}

TEST(KubeOvnHistory, AMemberThatWasKickedOnPurposeAndStoppedIsNotRebuilt) {
  Site site(3);
  site.watch(5s);
  site.cluster.strike(2);
  site.cluster.node(2).mode = raft::Mode::kAbsent;
  site.watch(60s);
  EXPECT_TRUE(site.planner.plans().empty());
  site.cluster.node(2).mode = raft::Mode::kClustered;
  site.cluster.kill(2);
  site.watch(300s);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_NE(site.refusal().find("not listed"), std::string::npos) << site.refusal();
}

TEST(KubeOvnHistory, TwoLeadersForAMomentAreNoReasonToAct) {
  Site site(3);
  site.watch(5s);
  site.cluster.isolate(0);
  site.cluster.elect(1);
  site.watch(3s);
  site.cluster.heal(0);
  site.watch(120s);
  EXPECT_TRUE(site.planner.plans().empty());
}

TEST(KubeOvnHistory, AnExpectedListThatIsOldNeverLeadsToARemovalOfTheLiving) {
  Site site(3);
  site.cluster.expectation.addresses = {site.cluster.node(0).address, "tcp:10.9.9.9:6643"};
  site.cluster.expectation.replicas = 2;
  site.watch(300s);
  EXPECT_TRUE(site.planner.plans().empty());
}

/// Whatever happens to the nodes: a plan never touches one that lives, and never one without which
/// there would be no quorum.
RC_GTEST_PROP(PlannerProperty, NoPlanTouchesALivingMemberOrLosesQuorum, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 6);
  Site site(size);
  site.watch(3s);
  const auto events = *rc::gen::inRange<int>(1, 8);
  bool ran = false;
  for (int event = 0; event < events; ++event) {
    const auto node = *rc::gen::inRange<std::size_t>(0, size);
    switch (*rc::gen::inRange(0, 6)) {
      case 0: site.cluster.kill(node); break;
      case 1: site.cluster.isolate(node); break;
      case 2: site.cluster.heal(node); break;
      case 3: site.cluster.elect(node); break;
      case 4: site.cluster.kill(node, ReasonCode::kHung); break;
      default: site.cluster.node(node).silence = ReasonCode::kNone; break;
    }
    for (int second = 0; second < 90; second += 10) {
      site.last = site.cluster.watch(10s);
      site.see();
      for (const auto& [id, plan] : site.planner.plans()) {
        if (plan.state != PlanState::kRunning) continue;
        ran = true;
        const Decision decision = decide(plan, site.remedy(), {}, site.cluster.now());
        if (decision.move != Move::kBegin && decision.move != Move::kFinish) continue;
        const raft::RepairServer* const server = site.view.find(RepairPlan::of(plan)->server);
        RC_ASSERT(server == nullptr || !server->acknowledges);
        RC_ASSERT(server == nullptr || !server->answers);
        const std::size_t rest = site.view.voters - 1;
        RC_ASSERT(site.view.acknowledging >= rest / 2 + 1);
        RC_ASSERT(site.view.acknowledging >= site.view.needed);
      }
    }
  }
  RC_CLASSIFY(ran, "a plan ran");
}

}  // namespace
}  // namespace wardmote::judge::plan
