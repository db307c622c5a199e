#include "act/plan/plan_runner.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/result.h"
#include "judge/plan/plan.h"
#include "sim/sim_database.h"
#include "store/journal.h"
#include "unit/act/fake_site.h"
#include "unit/act/plan_runner_fixture.h"

namespace wardmote::act {
namespace {

TEST_F(PlanRunnerTest, AMemberIsRebuiltAndEachStepIsWrittenDown) {
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); })) << plan().reason;
  EXPECT_EQ(rows(), (Rows{"proposed", "approved", "result confirm_quorum", "intent copy_database",
                          "result copy_database", "intent kick", "result kick", "intent rejoin",
                          "result rejoin", "result verify", "done"}));
  ASSERT_EQ(executor_.deeds.size(), 3U);
  EXPECT_EQ(executor_.deeds[1].step, "kick");
  EXPECT_EQ(executor_.deeds[1].moment.at("leader"), "ctl-1");
  EXPECT_EQ(executor_.deeds[2].moment.at("remotes"), "tcp:ctl-1 tcp:ctl-2");
  EXPECT_EQ(text("SELECT actor FROM journal WHERE kind = 'proposed'"), "policy rebuild");
  EXPECT_EQ(text("SELECT actor FROM journal WHERE kind = 'approved'"), "ann");
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'approved'"), "approved by ann: go on");
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'result' AND step = 'kick'"), "told");
  EXPECT_EQ(rows("incident != 17 OR plan != 1 OR subject != 'ctl-3' OR cluster != 'ovn-nb'"),
            Rows{});
  EXPECT_EQ(rows("kind IN ('intent', 'result') AND actor != 'ann'"), Rows{});
  EXPECT_EQ(plan().incident, 17);
  EXPECT_EQ(plan().token, runner_->token());
  restart();
  EXPECT_EQ(plan().state, PlanState::kDone) << "the record is as the journal says";
}

TEST_F(PlanRunnerTest, APolicyThatNeedsNobodyIsNamedAsWhoApproved) {
  policy().approval = false;
  runner_->reload(config_.setup());
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s));
  EXPECT_EQ(count("proposed"), 1U);
  EXPECT_EQ(count("approved"), 1U);
  EXPECT_EQ(text("SELECT actor FROM journal WHERE kind = 'approved'"), "policy rebuild");
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'approved'"),
            "approved by policy rebuild");
}

TEST_F(PlanRunnerTest, WhatGoesWrongIsToldAsAnError) {
  testing::Logged told;
  executor_.scripts = {kTimedOut, kFine, kFine, kNoProgram};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }, 60s));
  ASSERT_TRUE(runner_->approve(1, "ann", ""));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s));
  const LogLevel info = LogLevel::kInfo;
  const LogLevel warning = LogLevel::kWarning;
  EXPECT_EQ(told.levels("plan_proposed"), Levels{warning});
  EXPECT_EQ(told.levels("plan_approved"), (Levels{warning, warning}));
  EXPECT_EQ(told.levels("step_failed"), (Levels{LogLevel::kError, LogLevel::kError}));
  EXPECT_EQ(told.levels("step_begun"), (Levels{warning, warning, warning, warning, warning}));
  EXPECT_EQ(told.levels("step_done"), (Levels{info, info, info, info, info}));
  EXPECT_EQ(told.levels("plan_done"), Levels{info});
}

TEST_F(PlanRunnerTest, APlanThatAsksOrFailsIsToldAsAnError) {
  testing::Logged told;
  executor_.scripts = {kFine, kFine, kTimedOut};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }, 90s));
  EXPECT_EQ(told.levels("plan_unclear"), Levels{LogLevel::kError});
  ASSERT_TRUE(runner_->reject(1, "ann", ""));
  EXPECT_EQ(told.levels("plan_rejected"), Levels{LogLevel::kInfo});
  site_.joined = true;
  watch(2s);
  EXPECT_EQ(told.levels("plan_lifted"), Levels{LogLevel::kInfo});
}

TEST_F(PlanRunnerTest, APlanWhoseConditionNoLongerHoldsIsToldAsAnError) {
  testing::Logged told;
  approve();
  site_.other_ill = true;
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kFailed); }));
  EXPECT_EQ(told.levels("plan_failed"), Levels{LogLevel::kError});
}

TEST_F(PlanRunnerTest, AKickThatWasDoneAndEndedWith255IsFoundDone) {
  executor_.scripts = {kFine, kDoneAndEndedWith255};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); })) << plan().reason;
  EXPECT_EQ(site_.kicks, 1);
  const Rows of_kick = rows("step = 'kick'");
  EXPECT_EQ(of_kick, (Rows{"intent kick", "unknown kick", "result kick"}));
}

TEST_F(PlanRunnerTest, AKickThatWasNotDoneIsTriedThreeTimesAndThenSomebodyIsAsked) {
  executor_.scripts = {kFine, kTimedOut, kNotDoneAndEndedWith255, kTimedOut};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }, 120s));
  EXPECT_EQ(executor_.deeds.size(), 4U);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_TRUE(runner_->approve(1, "ann", ""));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s));
  EXPECT_EQ(site_.kicks, 1);
  EXPECT_EQ(count("approved"), 2U);
}

TEST_F(PlanRunnerTest, AKickWhoseProgramIsNotThereFailsAtOnce) {
  executor_.scripts = {kFine, kNoProgram};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kFailed); }, 5s));
  EXPECT_EQ(rows("step = 'kick'"), (Rows{"intent kick", "failure kick"}));
}

TEST_F(PlanRunnerTest, ARejoinThatWasDoneAndEndedWith255IsFoundDone) {
  executor_.scripts = {kFine, kFine, kDoneAndEndedWith255};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 3min)) << plan().reason;
  EXPECT_EQ(site_.rejoins, 1);
}

TEST_F(PlanRunnerTest, ARejoinThatShowsNothingAsksAndIsRepeatedOnlyWhenSomebodySaysSo) {
  executor_.scripts = {kFine, kFine, kNotDoneAndEndedWith255};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }, 90s)) << plan().reason;
  EXPECT_EQ(executor_.deeds.size(), 3U);
  watch(60s);
  EXPECT_EQ(executor_.deeds.size(), 3U);
  EXPECT_TRUE(runner_->approve(1, "ann", ""));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(site_.rejoins, 1);
}

TEST_F(PlanRunnerTest, ARejoinWhoseProgramIsNotThereNeverFailsThePlan) {
  executor_.scripts = {kFine, kFine, kNoProgram};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }, 10s)) << plan().reason;
  EXPECT_TRUE(has("failure rejoin"));
}

TEST_F(PlanRunnerTest, ACopyIsTriedThreeTimesAndWithoutOneNothingIsKicked) {
  executor_.scripts = {kTimedOut, kNotDoneAndEndedWith255, kFine};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s)) << plan().reason;
  EXPECT_EQ(count("unknown copy_database"), 2U);
}

TEST_F(PlanRunnerTest, WithoutACopyNothingIsKicked) {
  executor_.scripts = {kTimedOut, kTimedOut, kTimedOut};
  approve();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kFailed); }, 60s)) << plan().reason;
  EXPECT_FALSE(has("intent kick"));
}

// What is seen at the last moment counts.

TEST_F(PlanRunnerTest, AMemberThatCameBackWhileTheIntentWasWrittenIsLeftAlone) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  disk_.set_latency(2s);
  ASSERT_TRUE(watch_until([&] { return plan().current()->state == StepState::kBegun; }));
  site_.back = true;
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kWithdrawn); }));
  disk_.set_latency({});
  world_.run_for(5s);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(plan().reason, "ctl-3 answers and takes part");
  EXPECT_EQ(plan().steps[2].state, StepState::kWaiting);
  EXPECT_TRUE(has("dropped kick"));
  EXPECT_TRUE(has("withdrawn kick"));
}

TEST_F(PlanRunnerTest, ALookThatBeganBeforeIsNone) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  stale_ = 11s;
  watch(60s);
  EXPECT_FALSE(has("intent kick"));
  EXPECT_EQ(plan().reason, "it could not be looked at");
  stale_ = {};
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
}

TEST_F(PlanRunnerTest, ALookThatBeginsWhenItIsAskedForCounts) {
  approve();
  at_once_ = true;
  world_.run_for(10s);
  EXPECT_EQ(plan().state, PlanState::kDone) << plan().reason;
}

TEST_F(PlanRunnerTest, WithoutASecondLookNothingIsDone) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  ASSERT_TRUE(watch_until([&] { return has("intent kick"); }));
  world_.run_for(15s);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'dropped'"),
            "not done: it could not be looked at");
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(site_.kicks, 1);
}

TEST_F(PlanRunnerTest, AMemberThatSomebodyElseRebuiltIsLeftAlone) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  site_.listed = false;
  site_.joined = true;
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kWithdrawn); }));
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(site_.rejoins, 0);
}

TEST_F(PlanRunnerTest, AMemberThatSomebodyElseLetJoinAfterOurKickIsOnlyVerified) {
  executor_.scripts = {kFine, {true, std::string("told"), 3s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.kicks == 1; }));
  site_.joined = true;
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(site_.rejoins, 0);
}

// A command takes long, and its server comes back meanwhile.

TEST_F(PlanRunnerTest, ACommandThatHasNotGotThereYetIsStoppedForWhoComesBack) {
  executor_.scripts = {kFine, {.takes = 4s, .does_it_last = true}};
  approve();
  ASSERT_TRUE(watch_until([&] { return executor_.deeds.size() == 2; }));
  site_.back = true;
  watch(10s);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_TRUE(has("unknown kick"));
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'unknown'"),
            "stopped: 1111 answers: rejected");
  watch(3min);
  EXPECT_TRUE(is(PlanState::kUnclear)) << plan().reason;
}

/// Somebody else has let it join, and the command would empty it once more.
TEST_F(PlanRunnerTest, ARejoinOfWhoTakesPartForLongIsStopped) {
  executor_.scripts = {kFine, kFine, {.takes = 40s, .does_it_last = true}};
  approve();
  ASSERT_TRUE(watch_until([&] { return executor_.deeds.size() == 3; }));
  site_.joined = true;
  watch(20s);
  EXPECT_EQ(text("SELECT detail FROM journal WHERE kind = 'unknown'"),
            "stopped: ctl-3 takes part, and what still runs could only harm it: rejected");
  watch(100s);
  EXPECT_TRUE(is(PlanState::kRunning)) << "the command may go on where it cannot be ended";
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(site_.rejoins, 0);
}

// The journal comes first.

TEST_F(PlanRunnerTest, WithoutAnIntentNothingIsDone) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  disk_.fail_with(Errc::kExhausted);
  watch(20s);
  EXPECT_EQ(site_.kicks, 0);
  disk_.fail_with(std::nullopt);
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(site_.kicks, 1);
  EXPECT_EQ(plan().steps[2].tries, 1) << "what was not done is not counted";
}

TEST_F(PlanRunnerTest, AResultIsWrittenWhenTheDiskTakesIt) {
  executor_.scripts = {{true, std::string("copied"), 2s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.copies == 1; }));
  disk_.fail_with(Errc::kExhausted);
  watch(10s);
  EXPECT_FALSE(has("result copy_database"));
  disk_.fail_with(std::nullopt);
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
  EXPECT_EQ(count("result copy_database"), 1U);
  EXPECT_EQ(site_.copies, 1);
}

// Its server may have been started meanwhile, or another file put in its place.
TEST_F(PlanRunnerTest, AfterAPauseTheHostIsAskedAgainBeforeTheKick) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  ASSERT_TRUE(runner_->pause("", std::nullopt, "ann"));
  watch(20s);
  EXPECT_EQ(site_.kicks, 0);
  executor_.scripts.assign(3, {false, fail(Errc::kRejected, "its host says that it runs"), 0s});
  ASSERT_TRUE(runner_->resume("", "ann"));
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kFailed); }, 60s));
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_TRUE(has("asked kick"));
  EXPECT_EQ(count("intent copy_database"), 3U) << "three tries in all";
}

TEST_F(PlanRunnerTest, AnAgentThatStartsAnewAsksTheHostAgain) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("result copy_database"); }));
  restart();
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }, 60s));
  EXPECT_EQ(count("intent copy_database"), 2U);
  EXPECT_EQ(site_.kicks, 1);
}

TEST_F(PlanRunnerTest, WhatWasDecidedOnAFullDiskIsWrittenBeforeTheActs) {
  disk_.fail_with(Errc::kExhausted);
  approve();
  watch(20s);
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(site_.copies, 0);
  disk_.fail_with(std::nullopt);
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); })) << plan().reason;
  const Rows all = rows();
  ASSERT_GE(all.size(), 4U);
  EXPECT_EQ(Rows(all.begin(), all.begin() + 4),
            (Rows{"proposed", "approved", "result confirm_quorum", "intent copy_database"}));
  EXPECT_EQ(count("proposed"), 1U);
  EXPECT_EQ(count("approved"), 1U);
}

// Nothing acts, so nothing but time makes the disk be tried again.
TEST_F(PlanRunnerTest, WhatWasOrderedOnAFullDiskIsWrittenWhenThereIsRoom) {
  watch(1s);
  disk_.fail_with(Errc::kExhausted);
  ASSERT_TRUE(runner_->reject(1, "ann", "not now"));
  ASSERT_TRUE(runner_->pause("", 1h, "ann"));
  world_.run_for(10s);
  EXPECT_EQ(rows(), Rows{"proposed"});
  disk_.fail_with(std::nullopt);
  world_.run_for(5s);
  EXPECT_EQ(rows(), (Rows{"proposed", "rejected", "paused"}));
  restart();
  EXPECT_EQ(plan().state, PlanState::kRejected);
}

TEST_F(PlanRunnerTest, AnAgentWhoseFolderWasTakenAwayBeginsNoStep) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("intent copy_database"); }));
  folder_lost_ = true;
  watch(30s);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_FALSE(has("intent kick"));
  EXPECT_EQ(runner_->frozen(), "the data folder was taken away, and another agent may act");
  folder_lost_ = false;
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kDone); }));
}

TEST_F(PlanRunnerTest, AnAgentThatWasReplacedDoesNothingAnyMore) {
  approve();
  ASSERT_TRUE(watch_until([&] { return has("intent copy_database"); }));
  sim::SimDatabase other_database(us_, disk_);
  store::Journal later(us_, &other_database);
  ASSERT_TRUE(run_task(world_, us_, later.open()));
  watch(30s);
  EXPECT_EQ(site_.kicks, 0);
  EXPECT_EQ(runner_->frozen(), "a later agent has taken over");
  EXPECT_FALSE(runner_->approve(1, "ann", ""));
}

TEST_F(PlanRunnerTest, AnAgentLearnsFromWhateverItWritesThatItWasReplaced) {
  const auto replaced = [this](const std::function<void()>& writes) {
    sim::SimDatabase other_database(us_, disk_);
    store::Journal later(us_, &other_database);
    EXPECT_TRUE(run_task(world_, us_, later.open()));
    writes();
    world_.run_for(10s);
    storm_ = false;
    const bool knows = runner_->frozen() == "a later agent has taken over";
    restart();
    return knows;
  };
  EXPECT_TRUE(replaced([this] {
    storm_ = true;
    look();
  })) << "a storm";
  EXPECT_TRUE(replaced([this] { (void)runner_->pause("", 1s, "bob"); })) << "an order";
  // The state goes to the store before the row goes to the journal: the storm's freeze is there.
  EXPECT_TRUE(watch_until([&] { return !runner_->frozen(); }, 6min));
  executor_.scripts = {{true, std::string("copied"), 5s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return site_.copies == 1; }));
  EXPECT_TRUE(replaced([] {})) << "a result";
}

TEST_F(PlanRunnerTest, AnOrderOfTheLastMomentIsStillWrittenDown) {
  disk_.set_latency(200ms);
  EXPECT_TRUE(runner_->pause("ovn-nb", std::nullopt, "bob"));
  world_.run_for(10ms);
  end_life();
  disk_.set_latency({});
  begin_life();
  EXPECT_TRUE(runner_->planner().paused("ovn-nb", us_.now()));
}

TEST_F(PlanRunnerTest, WithoutAJournalNothingIsDone) {
  end_life();
  runner_ = std::make_unique<PlanRunner>(us_, PlanRunner::Memory{nullptr, nullptr, *leadership_},
                                         config_.setup(), executor_, doors());
  ASSERT_TRUE(run_task(world_, us_, runner_->open()));
  watch(5s);
  EXPECT_EQ(runner_->frozen(), "there is no 'data' folder for the journal");
  EXPECT_FALSE(runner_->approve(1, "ann", ""));
  EXPECT_TRUE(executor_.deeds.empty());
}

// Numbers.

TEST_F(PlanRunnerTest, APlanThatWaitsKeepsItsNumberOverARestart) {
  watch(2s);
  restart();
  for (int second = 0; second < 5; ++second) {
    runner_->heard(site_.remedy(us_.now()), {});
    world_.run_for(1s);
  }
  EXPECT_EQ(plan().state, PlanState::kProposed);
  watch(5s);
  EXPECT_EQ(runner_->planner().plans().size(), 1U);
  EXPECT_EQ(rows(), Rows{"proposed"});
  EXPECT_TRUE(runner_->approve(1, "ann", ""));
}

TEST_F(PlanRunnerTest, ANumberIsNeverGivenTwice) {
  watch(2s);
  ASSERT_TRUE(runner_->reject(1, "ann", ""));
  watch(1s);
  for (const char* const lost : {"plan/1", "last/plan"}) {
    restart();
    edit(std::string("DELETE FROM store_kv WHERE key = '") + lost + "'");
    edit("UPDATE store_kv SET value = '{}' WHERE key LIKE 'plan/%'");
    restart();
    watch(2s);
    EXPECT_FALSE(runner_->planner().plans().contains(1));
    ASSERT_FALSE(runner_->planner().plans().empty());
  }
  EXPECT_EQ(runner_->planner().last_number(), 3);
}

// Somebody was told of plan 1, which was never written down, and approves it later.
TEST_F(PlanRunnerTest, ANumberThatWasToldOnAFullDiskIsNotGivenToAnotherPlan) {
  disk_.fail_with(Errc::kExhausted);
  watch(2s);
  ASSERT_EQ(plan().state, PlanState::kProposed);
  end_life();
  disk_.fail_with(std::nullopt);
  begin_life();
  watch(2s);
  EXPECT_FALSE(runner_->planner().plans().contains(1));
  EXPECT_EQ(runner_->approve(1, "ann", "").error().code, Errc::kMissing);
  EXPECT_EQ(runner_->planner().last_number(), 33);
}

TEST_F(PlanRunnerTest, AnOrderlyEndLeavesNoGapInTheNumbersOfPlans) {
  watch(2s);
  ASSERT_TRUE(runner_->reject(1, "ann", ""));
  watch(1s);
  restart();
  edit("UPDATE store_kv SET value = '{}' WHERE key LIKE 'plan/%'");
  restart();
  watch(2s);
  EXPECT_EQ(runner_->planner().last_number(), 2);
}

TEST_F(PlanRunnerTest, APauseThatIsNotUnderstoodHoldsEverythingBack) {
  end_life();
  edit("INSERT INTO store_kv VALUES ('pause/x', '{}', 1, 1, 1, 0)");
  begin_life();
  EXPECT_EQ(runner_->planner().paused("ovn-nb", us_.now()),
            "everything is paused by a record not understood");
}

}  // namespace
}  // namespace wardmote::act
