// What the runner makes of what it finds written down, when the disk is slow or the lead passes on.

#include "act/plan/plan_runner.h"

#include <chrono>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/sim_database.h"
#include "store/store.h"
#include "unit/act/fake_site.h"
#include "unit/act/plan_runner_fixture.h"

namespace wardmote::act {
namespace {

class PlanRunnerMemory : public PlanRunnerTest {
 protected:
  /// Another life, of which the test sees the first steps.
  void begin_another() {
    end_life();
    runner_ = std::make_unique<PlanRunner>(us_, memory(), config_.setup(), executor_, doors());
  }
  Duration time_to_open(bool well) {
    const TimePoint begun = us_.now();
    EXPECT_EQ(run_task(world_, us_, runner_->open()).has_value(), well);
    return us_.now() - begun;
  }
  runtime::Task<void> break_disk(TimePoint at) {
    co_await us_.sleep_until(at);
    disk_.fail_with(Errc::kExhausted);
  }
};

TEST_F(PlanRunnerMemory, AnOrderThatTheDiskRefusedIsWrittenTwoSecondsLater) {
  disk_.fail_with(Errc::kExhausted);
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  world_.run_for(500ms);
  disk_.fail_with(std::nullopt);
  world_.run_for(1400ms);
  EXPECT_FALSE(has("paused"));
  world_.run_for(200ms);
  EXPECT_TRUE(has("paused"));
}

TEST_F(PlanRunnerMemory, AStartThatTheDiskRefusesIsLeftToTheCaller) {
  disk_.set_latency(1s);
  begin_another();
  const Duration whole = time_to_open(true);
  begin_another();
  runtime::TaskGroup faults(us_.executor());
  faults.spawn("break disk", break_disk(us_.now() + whole - 500ms));
  EXPECT_EQ(time_to_open(false), whole) << "the last write is not tried again";
  EXPECT_EQ(runner_->frozen(), "the journal could not be opened yet");
  disk_.fail_with(std::nullopt);
  disk_.set_latency({});
  world_.run(us_, faults.stop());
}

TEST_F(PlanRunnerMemory, AStartUnderALostLeadEndsAfterThreeReads) {
  disk_.set_latency(1s);
  begin_another();
  const Duration once = time_to_open(true);
  begin_another();
  leadership_->set_fence(store::Compare::unchanged_since("leader", 1));
  EXPECT_EQ(time_to_open(false), once + 2s) << "each read ends with a write, which is refused";
  disk_.set_latency({});
}

TEST_F(PlanRunnerMemory, WhoseLeadIsLostWhileItReadsThePlansReadsThemAnewWhenItLeadsAgain) {
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  disk_.set_latency(1s);
  leadership_->win();
  world_.run_for(500ms);
  leadership_->lose();
  edit("DELETE FROM store_kv WHERE key = 'plan/1'");
  leadership_->win();
  world_.run_for(700ms);
  EXPECT_EQ(runner_->frozen(), "what the agent that led before has done was not read yet")
      << "it has read what the other agent has changed since";
  world_.run_for(2s);
  EXPECT_FALSE(runner_->frozen());
  EXPECT_TRUE(runner_->planner().plans().empty());
  disk_.set_latency({});
}

TEST_F(PlanRunnerMemory, AfterARestartAPlanGoesOnWhenItsClusterIsLookedAt) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  restart();
  ASSERT_TRUE(is(PlanState::kRunning));
  at_once_ = true;
  executor_.deeds.clear();
  runner_->reload(config_.setup());
  world_.run_for(20s);
  EXPECT_TRUE(executor_.deeds.empty());
  look();
  world_.run_for(20s);
  EXPECT_FALSE(executor_.deeds.empty());
}

// The store of all agents was wiped, and what somebody had rejected was done.
TEST_F(PlanRunnerTest, AStoreThatWasEmptiedPausesEverything) {
  watch(2s);
  ASSERT_TRUE(runner_->reject(1, "ann", "not now"));
  watch(1s);
  end_life();
  edit("DELETE FROM store_kv");
  begin_life();
  const auto paused = runner_->planner().paused("ovn-nb", us_.now());
  ASSERT_TRUE(paused);
  EXPECT_TRUE(paused->starts_with("everything is paused by the agent: the store is empty"))
      << *paused;
  EXPECT_EQ(count("paused"), 1U);
  restart();
  EXPECT_TRUE(runner_->planner().paused("ovn-nb", us_.now()));
  EXPECT_EQ(count("paused"), 1U) << "once";
  ASSERT_TRUE(runner_->resume("", "ann"));
  watch(1s);
  restart();
  EXPECT_FALSE(runner_->planner().paused("ovn-nb", us_.now())) << "somebody has looked";
}

TEST_F(PlanRunnerTest, AStoreThatForgotAPauseAlonePausesEverything) {
  ASSERT_TRUE(runner_->pause("ovn-nb", std::nullopt, "ann"));
  watch(1s);
  end_life();
  edit("DELETE FROM store_kv");
  begin_life();
  EXPECT_TRUE(runner_->planner().paused("ovn-sb", us_.now()));
}

TEST_F(PlanRunnerTest, AnOlderCopyOfTheStorePausesEverything) {
  watch(2s);
  end_life();
  edit("UPDATE store_kv SET value = '0' WHERE key = 'last/plan'");
  begin_life();
  const auto paused = runner_->planner().paused("ovn-nb", us_.now());
  ASSERT_TRUE(paused);
  EXPECT_TRUE(paused->contains("knows of 0 plans, and this agent of 1")) << *paused;
}

/// As after the restore of a snapshot that somebody took before he paused.
TEST_F(PlanRunnerTest, AnOlderCopyThatLacksAPausePausesEverything) {
  ASSERT_TRUE(runner_->pause("ovn-nb", std::nullopt, "ann"));
  watch(1s);
  edit("CREATE TABLE before AS SELECT * FROM store_kv");
  ASSERT_TRUE(runner_->pause("", std::nullopt, "ann"));
  watch(1s);
  end_life();
  edit("DELETE FROM store_kv");
  edit("INSERT INTO store_kv SELECT * FROM before");
  begin_life();
  const auto paused = runner_->planner().paused("ovn-sb", us_.now());
  ASSERT_TRUE(paused);
  EXPECT_TRUE(paused->contains("the store lacks what this agent's journal says was ordered"))
      << *paused;
  restart();
  EXPECT_EQ(count("paused"), 3U) << "once";
  ASSERT_TRUE(runner_->resume("", "ann"));
  watch(1s);
  restart();
  EXPECT_FALSE(runner_->planner().paused("ovn-sb", us_.now())) << "somebody has looked";
}

TEST_F(PlanRunnerTest, AFirstLifePausesNothing) {
  restart();
  EXPECT_FALSE(runner_->planner().paused("ovn-nb", us_.now()));
  EXPECT_EQ(count("paused"), 0U);
}

}  // namespace
}  // namespace wardmote::act
