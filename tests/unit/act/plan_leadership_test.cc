// Two agents share a store. The lead goes from one to the other at any moment: between any two
// steps of a plan, and in the middle of one.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"
#include "unit/act/fake_site.h"
#include "unit/act/two_agents.h"

namespace wardmote::act {
namespace {

class Schedule {
 public:
  explicit Schedule(World& world) : sim_(world) {
    shared_.disk.set_latency(Duration(sim_.random().below(20'000'000)));
    agents_.front()->win();
  }

  void play() {
    for (int i = 0; i < 1000 && !over(); ++i) {
      if (i < 300) happen();
      if (i == 300) shared_.site.calm = true;
      sim_.run_for(Duration(sim_.random().below(500'000'000)));
      for (const auto& agent : agents_) agent->look(since_);
      if (sim_.random().chance(0.3)) agents_[sim_.random().below(2)]->rule();
    }
  }

  void verify() {
    EXPECT_TRUE(over());
    EXPECT_TRUE(shared_.site.joined);
    EXPECT_FALSE(shared_.site.listed);
    EXPECT_EQ(shared_.site.kicks, 1);
    EXPECT_EQ(shared_.site.rejoins, 1);
  }

 private:
  [[nodiscard]] bool over() const { return agents_[0]->over() || agents_[1]->over(); }

  void happen() {
    switch (sim_.random().below(12)) {
      case 0: {
        // The lease ends, nobody leads for a while, and the other or the same one wins it.
        agents_[leader_]->lose();
        sim_.run_for(Duration(sim_.random().below(3'000'000'000)));
        leader_ = sim_.random().below(2);
        agents_[leader_]->win();
        break;
      }
      case 1: {
        // The fence is gone before the leader notices.
        (void)agents_[leader_]->take_fence();
        sim_.run_for(Duration(sim_.random().below(2'000'000'000)));
        agents_[leader_]->lose();
        leader_ = 1 - leader_;
        agents_[leader_]->win();
        break;
      }
      default: break;
    }
  }

  World& sim_;
  Shared shared_;
  std::vector<std::unique_ptr<SharingAgent>> agents_ = make_agents();
  std::size_t leader_ = 0;
  TimePoint since_ = sim_.now() - 1h;

  std::vector<std::unique_ptr<SharingAgent>> make_agents() {
    std::vector<std::unique_ptr<SharingAgent>> agents;
    for (const char* const name : {"ctl-8", "ctl-9"})
      agents.push_back(std::make_unique<SharingAgent>(sim_, name, shared_));
    return agents;
  }
};

SIM_TEST_SEEDS(SimPlans, OneOfTwoAgentsActsAtATimeWheneverTheLeadIsLost, 100) {
  Schedule schedule(sim);
  schedule.play();
  schedule.verify();
}

TEST_F(PlanLeadership, WhoDoesNotLeadPlansNothingAndTakesNoOrders) {
  EXPECT_EQ(plan(a_).state, PlanState::kProposed);
  EXPECT_TRUE(b_.runner().planner().plans().empty());
  EXPECT_EQ(b_.runner().frozen(), "another agent leads");
  EXPECT_TRUE(b_.disk().rows("SELECT 1 FROM journal").empty());
}

TEST_F(PlanLeadership, AnotherAgentGoesOnWithTheSamePlanByLooking) {
  shared_.site.calm = true;
  a_.rule();
  for (int i = 0; i < 40 && shared_.site.kicks == 0; ++i) watch(500ms);
  ASSERT_EQ(shared_.site.kicks, 1);
  a_.lose();
  watch(5s);
  const int acts = shared_.acts;
  watch(30s);
  EXPECT_EQ(shared_.acts, acts) << "nobody leads";
  b_.win();
  watch(60s);
  EXPECT_EQ(plan(b_).state, PlanState::kDone) << plan(b_).reason;
  EXPECT_EQ(shared_.site.kicks, 1);
  EXPECT_EQ(shared_.site.rejoins, 1);
  EXPECT_NE(plan(a_).state, PlanState::kDone) << "it knows what it knew";
  b_.lose();
  a_.win();
  watch(2s);
  EXPECT_EQ(plan(a_).state, PlanState::kDone) << "it has read what the other did";
}

// It was killed before it could write down what it saw; the other had seen it, too.
TEST_F(PlanLeadership, WhoFollowsNotesTheLifeOfWhomTheLeaderRemoves) {
  SharingAgent c(world_, "c", shared_, true);
  shared_.site.calm = true;
  a_.rule();
  const auto begun = [&] {
    const judge::plan::Plan& its = plan(c);
    const auto* const kick = its.find("kick");
    return kick->state == judge::plan::StepState::kBegun;
  };
  for (int i = 0; i < 400 && !begun(); ++i) watch(100ms);
  ASSERT_TRUE(begun());
  a_.lose();
  shared_.site.back = true;
  c.look(world_.now() - 1h);
  shared_.site.back = shared_.site.listed = false;
  c.win();
  for (int i = 0; i < 60 && plan(c).state == PlanState::kRunning; ++i) {
    c.look(world_.now() - 1h);
    world_.run_for(500ms);
  }
  EXPECT_EQ(plan(c).state, PlanState::kUnclear) << plan(c).reason;
  EXPECT_TRUE(plan(c).reason.contains("it lived then")) << plan(c).reason;
}

TEST_F(PlanLeadership, WhoFollowsShowsEveryPlanOfTheLeaderAsItGoesOn) {
  SharingAgent c(world_, "c", shared_, true);
  EXPECT_EQ(plan(c).state, PlanState::kProposed);
  shared_.site.calm = true;
  a_.rule();
  watch(60s);
  ASSERT_EQ(plan(a_).state, PlanState::kDone) << plan(a_).reason;
  EXPECT_EQ(plan(c).state, PlanState::kDone) << "read more than once";
}

TEST_F(PlanLeadership, APauseHoldsWhoeverLeads) {
  a_.pause();
  a_.rule();
  watch(2s);
  a_.lose();
  b_.win();
  watch(20s);
  EXPECT_EQ(plan(b_).reason, "everything is paused by ann");
  EXPECT_EQ(shared_.acts, 0);
}

// Its own clock on the wall said that the hour was over.
TEST_F(PlanLeadership, APauseWithAnEndHoldsWhateverClockLeads) {
  ASSERT_TRUE(a_.runner().pause("", 1h, "ann"));
  a_.rule();
  watch(2s);
  a_.lose();
  b_.host().jump_wall_clock(2h);
  b_.win();
  watch(20s);
  EXPECT_EQ(plan(b_).reason, "everything is paused by ann");
  EXPECT_EQ(shared_.acts, 0);
  watch(1h);
  EXPECT_NE(plan(b_).reason, "everything is paused by ann");
}

// Nothing changed in the store, so nothing told it, and it showed a pause that nobody kept.
TEST_F(PlanLeadership, WhoLeadsNoMoreShowsWhatIsInTheStoreAndNotWhatItCouldNotWrite) {
  SharingAgent c(world_, "c", shared_, true);
  a_.lose();
  c.win();
  watch(5s);
  shared_.disk.fail_with(Errc::kTimeout);
  c.pause();
  watch(1s);
  ASSERT_TRUE(c.runner().planner().pauses().contains(""));
  c.lose();
  shared_.disk.fail_with(std::nullopt);
  watch(5s);
  EXPECT_TRUE(c.runner().planner().pauses().empty());
  EXPECT_EQ(plan(c).state, PlanState::kProposed);
}

// It was answered as if it held, and the next leader carried the plan out.
TEST_F(PlanLeadership, AnOrderThatWaitedUntilTheLeadWasLostIsSaidToBeLost) {
  shared_.disk.set_latency(2s);
  ASSERT_TRUE(a_.runner().pause("", {}, "ann"));
  ASSERT_TRUE(a_.runner().reject(1, "ann", "no"));
  const auto written = a_.runner().written();
  watch(1s);
  a_.lose();
  watch(10s);
  shared_.disk.set_latency({});
  watch(10s);
  EXPECT_EQ(written->fate(), control::Written::Fate::kLost);
}

TEST_F(PlanLeadership, AStepThatEndsWhenAnotherLeadsIsStillWrittenDown) {
  shared_.site.calm = true;
  a_.rule();
  for (int i = 0; i < 400 && shared_.inside == 0; ++i) watch(100ms);
  ASSERT_EQ(shared_.inside, 1);
  a_.lose();
  b_.win();
  watch(20s);
  EXPECT_EQ(a_.disk().rows("SELECT 1 FROM journal WHERE step = 'kick' AND kind = 'result'").size(),
            1U);
}

TEST_F(PlanLeadership, AStepIsNotBegunWhenAnotherHasLedBetweenItsIntentAndItsAct) {
  shared_.site.calm = true;
  a_.rule();
  const auto intends = [&] {
    return !a_.disk().rows("SELECT 1 FROM journal WHERE kind = 'intent'").empty();
  };
  for (int i = 0; i < 100 && !intends(); ++i) {
    a_.look(since_);
    for (int tick = 0; tick < 100 && !intends(); ++tick) world_.run_for(1ms);
  }
  ASSERT_TRUE(intends());
  const int acts = shared_.acts;
  a_.lose();
  b_.win();
  b_.lose();
  a_.win();
  a_.look(since_);
  world_.run_for(5s);
  EXPECT_EQ(shared_.acts, acts);
  const auto dropped = a_.disk().rows("SELECT detail FROM journal WHERE kind = 'dropped'");
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(*dropped.front().text(0), "not done: another agent has led meanwhile");
}

}  // namespace
}  // namespace wardmote::act
