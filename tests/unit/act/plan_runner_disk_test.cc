// What the runner says and does when its disk does not take what it writes, and how long it waits.

#include "act/plan/plan_runner.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "sim/sim_database.h"
#include "unit/act/fake_site.h"
#include "unit/act/plan_runner_fixture.h"

namespace wardmote::act {
namespace {

TEST_F(PlanRunnerTest, PausesAndTheirEndsAreTold) {
  testing::Logged told;
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  EXPECT_TRUE(runner_->resume("ovn-nb", "bob"));
  world_.run_for(1s);
  EXPECT_EQ(told.levels("acts_paused"), Levels{LogLevel::kWarning});
  EXPECT_EQ(told.levels("acts_resumed"), Levels{LogLevel::kInfo});
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'paused'"), "until somebody resumes");
}

TEST_F(PlanRunnerTest, APolicyThatCannotActIsNamedAtTheStartAndAtEachReload) {
  testing::Logged told;
  restart();
  EXPECT_EQ(told.levels("policy_only_observes"), Levels{}) << "it acts";
  policy().sole = false;
  runner_->reload(config_.setup());
  EXPECT_EQ(told.levels("policy_only_observes"), Levels{LogLevel::kWarning});
  restart();
  EXPECT_EQ(told.levels("policy_only_observes").size(), 2U);
  policy().act = false;
  runner_->reload(config_.setup());
  EXPECT_EQ(told.levels("policy_only_observes").size(), 2U) << "nobody wanted it to act";
}

TEST_F(PlanRunnerTest, ARecordThatIsNotUnderstoodIsAnError) {
  watch(1s);
  testing::Logged told;
  end_life();
  edit("UPDATE store_kv SET value = '{}' WHERE key = 'plan/1'");
  begin_life();
  EXPECT_EQ(told.levels("record_not_understood"), Levels{LogLevel::kError});
}

TEST_F(PlanRunnerTest, WhateverCannotBeWrittenIsAnError) {
  testing::Logged told;
  const auto failed = [&] { return told.levels("journal_not_written").size(); };
  disk_.fail_with(Errc::kExhausted);
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  world_.run_for(100ms);
  EXPECT_EQ(failed(), 1U) << "an order";
  storm_ = true;
  look();
  world_.run_for(100ms);
  EXPECT_EQ(failed(), 3U) << "a storm, and the plan that is proposed in it";
  disk_.fail_with(std::nullopt);
  look();
  storm_ = false;
  EXPECT_TRUE(runner_->resume("ovn-nb", "bob"));
  watch(1s);
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result confirm_quorum"); }));
  disk_.fail_with(Errc::kExhausted);
  ASSERT_TRUE(watch_until([&] { return failed() > 3; })) << "an intent";
}

TEST_F(PlanRunnerTest, AnIntentIsTriedAgainEveryTwoSeconds) {
  testing::Logged told;
  const auto failed = [&] { return told.levels("journal_not_written").size(); };
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  disk_.fail_with(Errc::kExhausted);
  ASSERT_TRUE(watch_until([&] { return failed() == 1; }));
  const TimePoint first = us_.now();
  ASSERT_TRUE(watch_until([&] { return failed() == 2; }));
  const TimePoint second = us_.now();
  EXPECT_GE(second - first, 1900ms);
  EXPECT_LE(second - first, 2800ms) << "two seconds, and a look at the cluster";
}

TEST_F(PlanRunnerTest, AResultIsTriedAgainEveryTwoSeconds) {
  testing::Logged told;
  const auto failed = [&] { return told.levels("journal_not_written").size(); };
  executor_.scripts = {{true, std::string("copied"), 2s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.copies == 1; }));
  disk_.fail_with(Errc::kExhausted);
  ASSERT_TRUE(watch_until([&] { return failed() == 1; }));
  const TimePoint first = us_.now();
  ASSERT_TRUE(watch_until([&] { return failed() == 2; }));
  EXPECT_GE(us_.now() - first, 1900ms);
  EXPECT_LE(us_.now() - first, 2100ms);
}

TEST_F(PlanRunnerTest, TenSecondsWithoutALookAreTooLong) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  ASSERT_TRUE(watch_until([&] { return has("intent kick"); }));
  const TimePoint asked = us_.now();
  while (!has("dropped kick") && us_.now() < asked + 20s) world_.run_for(100ms);
  EXPECT_GE(us_.now() - asked, 9800ms);
  EXPECT_LE(us_.now() - asked, 10200ms);
  EXPECT_EQ(site_.kicks, 0);
}

TEST_F(PlanRunnerTest, AtTheEndItWaitsASecondForTheDiskAndNoLonger) {
  disk_.set_latency(1min);
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  const TimePoint begun = us_.now();
  world_.run(us_, runner_->stop());
  EXPECT_GE(us_.now() - begun, 1s);
  EXPECT_LE(us_.now() - begun, 1100ms);
  disk_.set_latency({});
}

TEST_F(PlanRunnerTest, UntilTheJournalCouldBeOpenedNothingIsPlanned) {
  end_life();
  disk_.fail_with(Errc::kExhausted);
  incident_ = 0;
  runner_ = std::make_unique<PlanRunner>(us_, memory(), config_.setup(), executor_, doors());
  EXPECT_FALSE(run_task(world_, us_, runner_->open()));
  watch(2s);
  EXPECT_TRUE(runner_->planner().plans().empty());
  EXPECT_EQ(runner_->frozen(), "the journal could not be opened yet");
  EXPECT_EQ(runner_->pause("", std::nullopt, "bob").error().code, Errc::kRejected);
  disk_.fail_with(std::nullopt);
  ASSERT_TRUE(run_task(world_, us_, runner_->open()));
  EXPECT_FALSE(runner_->frozen());
  watch(2s);
  EXPECT_EQ(plan().state, PlanState::kProposed);
  EXPECT_EQ(plan().incident, 0) << "no incident is open";
}

TEST_F(PlanRunnerTest, AClusterThatNobodyConfiguredIsNotPlannedFor) {
  runner_->heard(site_.remedy(us_.now(), "ovn-sb"), site_.findings(since_));
  EXPECT_TRUE(runner_->planner().plans().empty());
}

TEST_F(PlanRunnerTest, AClusterThatComesBackIsLookedAtFirst) {
  watch(2s);
  EXPECT_TRUE(runner_->propose("ovn-nb", "ctl-3", "bob"));
  const auto clusters = config_.clusters;
  config_.clusters.clear();
  runner_->reload(config_.setup());
  config_.clusters = clusters;
  runner_->reload(config_.setup());
  EXPECT_EQ(runner_->propose("ovn-nb", "ctl-3", "bob").error().code, Errc::kRejected);
  look();
  EXPECT_TRUE(runner_->propose("ovn-nb", "ctl-3", "bob"));
}

TEST_F(PlanRunnerTest, WhoAsksIsWrittenDown) {
  config_.policies.front().on = {judge::Code::kRaftJoiningStuck};
  runner_->reload(config_.setup());
  watch(2s);
  const Result<std::int64_t> asked = runner_->propose("ovn-nb", "ctl-3", "bob");
  ASSERT_TRUE(asked) << asked.error().describe();
  EXPECT_EQ(*asked, 1);
  world_.run_for(1s);
  EXPECT_EQ(rows("actor = 'bob'"), Rows{"proposed"});
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'proposed'"),
            "rebuild ctl-3 of ovn-nb, which was 1111 (tcp:ctl-3): asked for");
}

TEST_F(PlanRunnerTest, WhatIsForgottenLeavesTheDisk) {
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  end_life();
  for (int id = 2; id <= 202; ++id) {
    edit("INSERT INTO store_kv SELECT 'plan/" + std::to_string(id) +
         "', replace(value, '\"id\":1,', '\"id\":" + std::to_string(id) +
         ",'), created, modified, version, lease FROM store_kv WHERE key = 'plan/1'");
  }
  begin_life();
  ASSERT_EQ(runner_->planner().plans().size(), 202U);
  site_.joined = false;
  site_.listed = true;
  policy().after = {};
  runner_->reload(config_.setup());
  watch(2s);
  EXPECT_EQ(rows("kind = 'forgotten' AND actor = 'agent'"), (Rows{"forgotten", "forgotten"}));
  EXPECT_EQ(text("SELECT group_concat(plan) FROM journal WHERE kind = 'forgotten'"), "1,2");
  EXPECT_EQ(text("SELECT group_concat(key) FROM store_kv WHERE key IN ('plan/1', 'plan/3')"),
            "plan/3");
}

TEST_F(PlanRunnerTest, AtTheEndItWaitsNoLongerThanTheDiskNeeds) {
  disk_.set_latency(200ms);
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  const TimePoint begun = us_.now();
  world_.run(us_, runner_->stop());
  EXPECT_LT(us_.now() - begun, 900ms);
  disk_.set_latency({});
}

TEST_F(PlanRunnerTest, WhoeverLeadsReadsThePlansUntilTheDiskLetsIt) {
  leadership_->lose();
  disk_.rows("ALTER TABLE store_kv RENAME TO store_away");
  leadership_->win();
  world_.run_for(1s);
  EXPECT_EQ(runner_->frozen(), "what the agent that led before has done was not read yet");
  disk_.rows("ALTER TABLE store_away RENAME TO store_kv");
  world_.run_for(10s);
  EXPECT_FALSE(runner_->frozen());
}

TEST_F(PlanRunnerTest, TheRecordOfAPlanSaysHowItsLastStepEnded) {
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.copies == 1; }));
  EXPECT_TRUE(runner_->pause("", std::nullopt, "bob")) << "so that nothing is written after it";
  watch(3s);
  ASSERT_TRUE(has("result copy_database"));
  EXPECT_EQ(plan().steps.at(1).state, StepState::kDone);
  restart();
  EXPECT_EQ(plan().steps.at(1).state, StepState::kDone);
}

}  // namespace
}  // namespace wardmote::act
