// Budget, cooldown, and one plan at a time in a cluster.

#include <chrono>

#include <gtest/gtest.h>

#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "unit/judge/raft/repair/plan_site.h"

namespace wardmote::judge::plan {
namespace {

using namespace std::chrono_literals;
using namespace raft::repair;

TEST(PlanBudget, APlanThatHasActedCountsHoweverItEnded) {
  for (const bool acted : {true, false}) {
    Policy its = policy();
    its.cooldown = 0s;
    Site site = site_with_ghost(its);
    Plan plan = site.the_plan();
    plan.state = PlanState::kWithdrawn;
    plan.begun = plan.changed = site.cluster.now();
    plan.steps[1].tries = acted ? 1 : 0;
    site.planner.update(plan);
    site.watch(31s);
    ASSERT_EQ(site.planner.plans().size(), 2U);
    const Plan& second = site.planner.plans().at(2);
    EXPECT_EQ(second.state, acted ? PlanState::kProposed : PlanState::kRunning) << second.reason;
  }
}

TEST(PlanBudget, OnePlanAtATimeInACluster) {
  Policy its = policy();
  its.budget = 10;
  its.cooldown = 10s;
  Site site = site_with_ghost(its);
  ASSERT_EQ(site.the_plan().state, PlanState::kRunning);
  Plan other = site.the_plan();
  other.id = 2;
  other.state = PlanState::kProposed;
  other.code.reset();
  other.remedy = "rebuild_member";
  other.args = {{"member", "ctl-3"}};
  site.planner.update(other);
  EXPECT_EQ(site.planner.approve(2, "ann", site.cluster.now()), "plan 1 is not at its end");
  Plan first = site.planner.plans().at(1);
  first.state = PlanState::kDone;
  first.changed = site.cluster.now();
  site.planner.update(first);
  EXPECT_EQ(site.planner.approve(2, "ann", site.cluster.now() + 9s),
            "plan 1 ended less than 10s ago");
  other.target.name = "ovn-sb";
  site.planner.update(other);
  EXPECT_FALSE(site.planner.approve(2, "ann", site.cluster.now() + 9s)) << "another cluster";
}

TEST(PlanBudget, APlanThatNeverRanHidesNoneThatDid) {
  Policy its = policy(true, true);
  its.budget = 10;
  Site site = site_with_ghost(its);
  const TimePoint now = site.cluster.now();
  Plan other = site.the_plan();
  other.id = 5;
  site.planner.update(other);
  Plan before = other;
  before.id = 2;
  before.state = PlanState::kRejected;
  site.planner.update(before);
  before.id = 3;
  before.target.name = "ovn-sb";
  before.args[std::string(kTargetId)] = "another";
  before.state = PlanState::kRunning;
  site.planner.update(before);
  EXPECT_FALSE(site.planner.approve(1, "ann", now)) << "that one runs in another cluster";
  Plan first = site.planner.plans().at(1);
  before.args = first.args;
  site.planner.update(before);
  EXPECT_EQ(site.planner.approve(5, "ann", now), "plan 1 is not at its end");
  first.state = PlanState::kWithdrawn;
  site.planner.update(first);
  EXPECT_EQ(site.planner.approve(5, "ann", now), "plan 3 is not at its end")
      << "the same cluster under another name";
  before.args[std::string(kTargetId)] = "another";
  site.planner.update(before);
  before.id = 4;
  before.target = other.target;
  before.args = other.args;
  before.state = PlanState::kDone;
  before.begun = before.changed = now;
  site.planner.update(before);
  EXPECT_EQ(site.planner.approve(5, "ann", now + 1s), "plan 4 ended less than 10m ago");
}

TEST(PlanBudget, TheBudgetIsOfThePolicyAndOfTheWindow) {
  Policy its = policy(true, true);
  its.budget = 2;
  its.cooldown = 0s;
  Site site = site_with_ghost(its);
  const TimePoint now = site.cluster.now();
  Plan before = site.the_plan();
  before.id = 2;
  before.state = PlanState::kFailed;
  before.begun = before.changed = now - its.window + 1s;
  site.planner.update(before);
  before.id = 3;
  site.planner.update(before);
  EXPECT_EQ(site.planner.approve(1, "ann", now), "policy repair has begun 2 plans within 1h");
  EXPECT_FALSE(site.planner.approve(1, "ann", now + 1s)) << "they are older than the window";
  Site again = site_with_ghost(its);
  before.id = 2;
  before.policy = "other";
  again.planner.update(before);
  before.id = 3;
  before.policy = "repair";
  again.planner.update(before);
  EXPECT_FALSE(again.planner.approve(1, "ann", now)) << "one of them is another policy's";
}

}  // namespace
}  // namespace wardmote::judge::plan
