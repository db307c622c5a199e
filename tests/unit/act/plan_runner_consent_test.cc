#include "act/plan/plan_runner.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "judge/plan/plan.h"
#include "unit/act/fake_site.h"
#include "unit/act/plan_runner_fixture.h"

namespace wardmote::act {
namespace {

// Who lets it act is asked again before every step.

TEST_F(PlanRunnerTest, AReloadToObserveStopsItBeforeTheNextStep) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("intent copy_database"); }));
  policy().act = false;
  runner_->reload(config_.setup());
  ASSERT_TRUE(watch_until([&] { return plan().state == PlanState::kWithdrawn; }));
  watch(10s);
  EXPECT_FALSE(has("intent kick"));
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(plan().reason, "policy rebuild only observes: set 'mode: act'");
}

TEST_F(PlanRunnerTest, AReloadWhileTheIntentIsWrittenStopsThatStep) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  disk_.set_latency(3s);
  ASSERT_TRUE(watch_until([&] {
    return plan().current()->name == "kick" && plan().current()->state == StepState::kBegun;
  }));
  config_.policies.clear();
  runner_->reload(config_.setup());
  ASSERT_TRUE(watch_until([&] { return plan().state == PlanState::kWithdrawn; }));
  disk_.set_latency({});
  EXPECT_TRUE(has("dropped kick"));
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_FALSE(plan().half_way()) << "what was not done is not counted";
}

TEST_F(PlanRunnerTest, AReloadAfterTheKickAsksWhatIsToBecomeOfTheMember) {
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.kicks == 1; }));
  policy().clusters = {"ovn-sb"};
  runner_->reload(config_.setup());
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }));
  EXPECT_EQ(site_.rejoins, 0);
  EXPECT_FALSE(runner_->approve(1, "ann", "")) << "its policy does not let it";
  policy().clusters.clear();
  runner_->reload(config_.setup());
  EXPECT_TRUE(runner_->approve(1, "ann", ""));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
}

TEST_F(PlanRunnerTest, AClusterThatIsNotConfiguredAnyMoreHasNoPlans) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  config_.clusters.clear();
  runner_->reload(config_.setup());
  world_.run_for(15s);
  EXPECT_EQ(plan().state, PlanState::kWithdrawn);
  EXPECT_EQ(plan().reason, "ovn-nb is not configured any more");
  EXPECT_EQ(site_.kicks, 0);
}

TEST_F(PlanRunnerTest, APlanOfAClusterThatWentWhileTheAgentWasAwayIsEnded) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  end_life();
  config_.clusters.front().name = "ovn-sb";
  begin_life();
  runner_->reload(config_.setup());
  world_.run_for(1s);
  EXPECT_EQ(plan().state, PlanState::kWithdrawn);
}

TEST_F(PlanRunnerTest, APauseHoldsTheNextStepAndOutlivesARestart) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("intent copy_database"); }));
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  watch(5s);
  EXPECT_EQ(plan().reason, "ovn-nb is paused by bob");
  restart();
  watch(30s);
  EXPECT_FALSE(has("intent kick"));
  EXPECT_TRUE(runner_->resume("ovn-nb", "bob"));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  restart();
  EXPECT_TRUE(runner_->planner().pauses().empty());
  EXPECT_EQ(rows("actor = 'bob'"), (Rows{"paused", "resumed"}));
}

TEST_F(PlanRunnerTest, APauseEndsByItself) {
  approve();
  EXPECT_TRUE(runner_->pause("", 10s, "bob"));
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'paused'"), "");
  watch(9s);
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'paused'"), "for 10s");
  EXPECT_FALSE(has("intent copy_database"));
  watch(3s);
  EXPECT_TRUE(has("intent copy_database"));
}

TEST_F(PlanRunnerTest, AShorterPauseDoesNotEndALongerOne) {
  approve();
  EXPECT_TRUE(runner_->pause("ovn-nb", 1h, "bob"));
  EXPECT_TRUE(runner_->pause("ovn-nb", 5s, "ann"));
  watch(10s);
  EXPECT_FALSE(has("intent copy_database"));
  EXPECT_EQ(plan().reason, "ovn-nb is paused by bob");
  restart();
  watch(30s);
  EXPECT_FALSE(has("intent copy_database"));
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "ann"));
  EXPECT_FALSE(runner_->planner().pauses().at("ovn-nb").until) << "a longer one holds";
}

// The paused cluster got another name, and was repaired.
TEST_F(PlanRunnerTest, APauseOfANameThatIsGoneHoldsWhoeverMayHaveHadIt) {
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  PlanRunner::Setup renamed = config_.setup();
  renamed.targets = {{judge::ThingKind::kCluster, "northbound"}};
  runner_->reload(std::move(renamed));
  const auto held = runner_->brake({judge::ThingKind::kCluster, "northbound"});
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->starts_with("ovn-nb is paused by bob, and nothing has this name now")) << *held;
  EXPECT_TRUE(runner_->resume("ovn-nb", "bob"));
  EXPECT_FALSE(runner_->brake({judge::ThingKind::kCluster, "northbound"}));
}

// The names of two clusters were put right, and the paused one was repaired under its new name.
TEST_F(PlanRunnerTest, APausedClusterIsFoundAgainByWhatWasLearntOfItLater) {
  const judge::ThingId northbound{judge::ThingKind::kCluster, "northbound"};
  for (const bool learnt : {true, false}) {
    site_.places = {{"ctl-1", "unix:/run/nb.ctl"}};
    site_.cluster_id = {};
    look();
    EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
    if (learnt) site_.cluster_id = id_of("1a97");
    watch(2s);
    restart();
    PlanRunner::Setup renamed = config_.setup();
    renamed.targets.push_back(northbound);
    runner_->reload(std::move(renamed));
    const auto unseen = runner_->brake(northbound).value_or("");
    EXPECT_TRUE(unseen.contains("what has this name now is not known to be the same")) << unseen;
    site_.cluster_id = id_of("1a97");
    site_.places = {{"ctl-1", "unix:/run/ovn/nb.ctl"}};
    runner_->heard(site_.remedy(us_.now(), "northbound"), {});
    const auto held = runner_->brake(northbound).value_or("");
    EXPECT_EQ(held.contains("and northbound is what had this name"), learnt) << held;
    EXPECT_TRUE(held.starts_with("ovn-nb is paused by bob")) << held;
    EXPECT_TRUE(runner_->resume("ovn-nb", "bob"));
    EXPECT_FALSE(runner_->brake(northbound));
    runner_->reload(config_.setup());
  }
}

TEST_F(PlanRunnerTest, OrdersAboutWhatIsNotThereAreRefused) {
  watch(1s);
  EXPECT_EQ(runner_->pause("ovn-sb", std::nullopt, "bob").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->resume("ovn-nb", "bob").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->approve(9, "bob", "").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->reject(9, "bob", "").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->propose("ovn-sb", "ctl-3", "bob").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->propose("ovn-nb", "ctl-2", "bob").error().code, Errc::kRejected);
  restart();
  EXPECT_EQ(runner_->propose("ovn-nb", "ctl-3", "bob").error().code, Errc::kRejected)
      << "it was not looked at yet";
}

TEST_F(PlanRunnerTest, WhatIsRejectedIsNotTriedAgainByALaterAgent) {
  policy().after = 1s;
  policy().approval = false;
  runner_->reload(config_.setup());
  ASSERT_TRUE(runner_->pause("", std::nullopt, "bob"));
  watch(3s);
  ASSERT_TRUE(runner_->reject(1, "ann", "by hand"));
  ASSERT_TRUE(runner_->resume("", "bob"));
  watch(5s);
  restart();
  since_ = us_.now();
  watch(120s);
  EXPECT_EQ(runner_->planner().plans().size(), 1U);
  EXPECT_EQ(plan().state, PlanState::kRejected);
  EXPECT_TRUE(executor_.deeds.empty());
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'rejected'"), "by ann: by hand");
  site_.back = true;
  watch(2s);
  site_.back = false;
  restart();
  since_ = us_.now();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s)) << "it was well since";
  EXPECT_EQ(runner_->planner().plans().rbegin()->first, 2);
}

TEST_F(PlanRunnerTest, ARejectionStopsWhatRunsBeforeItsNextStep) {
  executor_.scripts = {{true, std::string("copied"), 5s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.copies == 1; }));
  EXPECT_TRUE(runner_->reject(1, "ann", "stop"));
  watch(20s);
  EXPECT_EQ(plan().state, PlanState::kRejected);
  EXPECT_EQ(plan().reason, "by ann: stop");
  EXPECT_EQ(plan().steps[1].state, StepState::kDone) << "what was under way ended";
  EXPECT_TRUE(has("result copy_database"));
  EXPECT_FALSE(has("intent kick"));
  restart();
  EXPECT_EQ(plan().state, PlanState::kRejected);
}

TEST_F(PlanRunnerTest, ARejectionWhileTheIntentIsWrittenStopsThatStep) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  disk_.set_latency(3s);
  ASSERT_TRUE(watch_until([&] { return plan().current()->state == StepState::kBegun; }));
  EXPECT_TRUE(runner_->reject(1, "ann", ""));
  watch(20s);
  disk_.set_latency({});
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'dropped'"),
            "not done: somebody has ended the plan");
  restart();
  EXPECT_EQ(plan().state, PlanState::kRejected);
}

TEST_F(PlanRunnerTest, AStormHoldsTheNextStepAndOutlivesARestart) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("intent copy_database"); }));
  storm_ = true;
  watch(5s);
  EXPECT_EQ(plan().reason, "a storm rages");
  EXPECT_FALSE(runner_->approve(1, "ann", ""));
  storm_ = false;
  restart();
  watch(295s);
  EXPECT_EQ(runner_->frozen(), "a storm raged when the agent ended");
  EXPECT_FALSE(has("intent kick"));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(rows("kind IN ('frozen', 'released')"), (Rows{"frozen", "released"}));
  restart();
  EXPECT_FALSE(runner_->frozen());
}

TEST_F(PlanRunnerTest, AStormThatCannotBeWrittenDownIsTriedAgain) {
  storm_ = true;
  disk_.fail_with(Errc::kExhausted);
  watch(5s);
  disk_.fail_with(std::nullopt);
  watch(2s);
  EXPECT_EQ(rows("kind = 'frozen'"), Rows{"frozen"});
  storm_ = false;
  watch(2s);
  EXPECT_EQ(rows("kind = 'released'"), Rows{"released"});
}

TEST_F(PlanRunnerTest, AnAgentThatHasJustStartedLooksFirst) {
  end_life();
  quiet_ = 20s;
  begin_life();
  approve();
  watch(15s);
  EXPECT_TRUE(runner_->frozen()) << "a storm might rage";
  EXPECT_FALSE(has("intent copy_database"));
  watch(10s);
  EXPECT_FALSE(runner_->frozen());
  EXPECT_TRUE(has("intent copy_database"));
}

TEST_F(PlanRunnerTest, OnlyTheLeaderActs) {
  approve();
  leadership_->lose();
  watch(5s);
  EXPECT_EQ(plan().reason, "another agent leads");
  EXPECT_FALSE(has("intent copy_database"));
  leadership_->win();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
}

TEST_F(PlanRunnerTest, APolicyWithoutTheOperatorsWordOnlyObserves) {
  policy().sole = false;
  policy().approval = false;
  runner_->reload(config_.setup());
  since_ = us_.now() - 1h;
  watch(30s);
  EXPECT_EQ(plan().state, PlanState::kObserved);
  EXPECT_NE(plan().reason.find("'sole: true'"), std::string::npos) << plan().reason;
  EXPECT_FALSE(runner_->approve(1, "ann", ""));
  EXPECT_TRUE(executor_.deeds.empty());
}

}  // namespace
}  // namespace wardmote::act
