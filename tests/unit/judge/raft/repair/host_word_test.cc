#include "judge/raft/repair/steps.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/repair/plan_fixture.h"

namespace wardmote::judge::raft::repair {
namespace {

using plan::begin;
using plan::end_act;
using plan::is_young;
using plan::settle;
using plan::Success;
using namespace std::chrono_literals;

class HostWord : public PlanFixture {};

TEST_F(HostWord, ACopyIsTriedThreeTimes) {
  at(StepKind::kCopyDatabase);
  word().reset();
  Step& copy = *plan_.current();
  copy.tries = 1;
  EXPECT_EQ(decision(), (Decision{Move::kWait, "it is tried again"}));
  now_ += 10s - 1ns;
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1ns;
  EXPECT_EQ(move(), Move::kBegin);
  copy.tries = 2;
  EXPECT_EQ(move(), Move::kBegin);
  copy.tries = 3;
  copy.detail = "no space left";
  EXPECT_EQ(decision(), (Decision{Move::kFail, "begun 3 times: no space left"}));
  copy.detail.clear();
  EXPECT_EQ(decision(), (Decision{Move::kFail, "begun 3 times: no result"}));
}

TEST_F(HostWord, AKickWithoutAResultIsLookedAtFirst) {
  at(StepKind::kKick, StepState::kBegun);
  EXPECT_EQ(move(), Move::kWait) << "it may still show";
  now_ += 10s - 1ns;
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1ns;
  EXPECT_EQ(move(), Move::kRepeat) << "it is still listed, and the id is never given again";
  view_.changing = true;
  EXPECT_EQ(move(), Move::kWait);
  view_.changing = false;
  kicked();
  EXPECT_EQ(decision(), (Decision{Move::kFinish, "1111 is not listed any more"}));
}

TEST_F(HostWord, AKickIsRepeatedTwiceAndThenSomebodyIsAsked) {
  at(StepKind::kKick, StepState::kBegun);
  now_ += 10s;
  plan_.current()->tries = 2;
  EXPECT_EQ(move(), Move::kRepeat);
  spoke(now_);
  EXPECT_EQ(move(), Move::kBegin);
  plan_.current()->tries = 3;
  EXPECT_EQ(move(), Move::kAsk);
}

// A host may start its server at any moment: what it said before a pause, before the agent was
// restarted, or before a kick that had no effect, is not believed.
TEST_F(HostWord, ARebuildBeginsNoKickAndNoRejoinOnAnOldWordOfTheHost) {
  for (const StepKind kind : {StepKind::kKick, StepKind::kRejoin}) {
    at(kind);
    const RepairView listed = view_;
    if (kind == StepKind::kRejoin) kicked();
    EXPECT_EQ(move(), Move::kBegin) << to_string(kind);
    spoke(now_ - 15s);
    EXPECT_EQ(move(), Move::kBegin) << to_string(kind);
    spoke(now_ - 15s - 1ns);
    EXPECT_EQ(decision(),
              (Decision{Move::kRepeat, "the host of ctl-3 is asked again", "copy_database"}));
    EXPECT_EQ(decision({.held = "paused", .withdrawn = {}}), (Decision{Move::kWait, "paused"}));
    spoke(std::nullopt);
    EXPECT_EQ(move(), Move::kRepeat) << to_string(kind);
    view_ = listed;
  }
}

// Seen on real servers: a copy that hung after it had looked, and an agent that was stopped while
// it ran. The server had been started meanwhile, and was kicked and wiped.
TEST_F(HostWord, IsAsOldAsTheQuestion) {
  for (const Duration late : {15s + 0ns, 15s + 1ns}) {
    at(StepKind::kCopyDatabase);
    word().reset();
    const TimePoint acted = now_;
    begin(plan_, 1, now_);
    now_ += late;
    EXPECT_EQ(end_act(plan_, Effect::kDone, "not running", acted, now_), "result");
    EXPECT_EQ(word(), (Success{acted, now_, acted}));
    EXPECT_EQ(move(), late > 15s ? Move::kRepeat : Move::kBegin);
  }
}

TEST_F(HostWord, AHostThatAnswersLateThreeTimesEndsThePlanAndSaysWhatHelps) {
  at(StepKind::kCopyDatabase);
  word().reset();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(plan_.current()->name, to_string(StepKind::kCopyDatabase));
    ASSERT_EQ(move(), Move::kBegin);
    const TimePoint acted = now_;
    begin(plan_, 1, now_);
    now_ += 20s;
    end_act(plan_, Effect::kDone, "not running", acted, now_);
    ASSERT_EQ(settle(plan_, decision(), now_), "asked");
  }
  EXPECT_EQ(
      decision(),
      (Decision{Move::kFail,
                "begun 3 times: the report of ctl-3 came 20s after it was asked for, "
                "and holds 15s: give the member a quick command for 'report' under 'repair'"}));
}

TEST_F(HostWord, AYoungCopyNeedsNoOther) {
  at(StepKind::kCopyDatabase);
  EXPECT_FALSE(is_young({}, now_)) << "nothing was copied";
  word() = Success{now_, now_, now_ - 10min};
  EXPECT_TRUE(is_young(*plan_.find(StepKind::kCopyDatabase), now_));
  EXPECT_FALSE(is_young(*plan_.find(StepKind::kCopyDatabase), now_ + 1ns));
  begin(plan_, 1, now_);
  end_act(plan_, Effect::kDone, "a report", now_, now_ + 1s);
  EXPECT_EQ(word(), (Success{now_, now_ + 1s, now_ - 10min})) << "it copied nothing";
  at(StepKind::kCopyDatabase);
  word() = Success{now_, now_, now_ - 11min};
  end_act(plan_, Effect::kDone, "a copy", now_, now_ + 1s);
  EXPECT_EQ(word()->whole, now_);
}

TEST_F(HostWord, AfterACopyThatFailedNothingIsBelieved) {
  for (const Effect effect : {Effect::kUnknown, Effect::kNone}) {
    at(StepKind::kCopyDatabase);
    end_act(plan_, effect, "no space left", now_, now_);
    EXPECT_FALSE(word());
  }
}

TEST_F(HostWord, TheRemovalOfAServerWithoutAHostAsksNobody) {
  remove_only();
  at(StepKind::kKick);
  spoke(std::nullopt);
  EXPECT_EQ(move(), Move::kBegin);
  at(StepKind::kKick, StepState::kBegun);
  now_ += 10s;
  EXPECT_EQ(move(), Move::kBegin);
}

TEST_F(HostWord, TheHostIsAskedAgainBeforeARejoinThatSomebodyLetsBeginAgain) {
  at(StepKind::kRejoin);
  kicked();
  plan_.current()->tries = 1;
  spoke(std::nullopt);
  EXPECT_EQ(move(), Move::kRepeat) << "another file may lie there by now";
}

TEST_F(HostWord, WhoAsksTheHostMakesTheCopyAgain) {
  at(StepKind::kKick, StepState::kBegun);
  now_ += 10s;
  EXPECT_EQ(settle(plan_, decision(), now_), "asked");
  EXPECT_EQ(plan_.state, PlanState::kRunning);
  EXPECT_EQ(plan_.current()->detail, "the host of ctl-3 is asked again");
  ASSERT_EQ(plan_.current()->name, to_string(StepKind::kCopyDatabase));
  EXPECT_EQ(plan_.current()->state, StepState::kWaiting);
  now_ += 1s;
  plan_.find(StepKind::kCopyDatabase)->tries = 1;
  EXPECT_EQ(move(), Move::kBegin) << "it did not fail: it need not wait";
  begin(plan_, 1, now_);
  now_ += 1s;
  EXPECT_EQ(end_act(plan_, Effect::kDone, "not running", now_, now_), "result");
  ASSERT_EQ(plan_.current()->name, to_string(StepKind::kKick));
  EXPECT_EQ(move(), Move::kBegin) << "at once";
}

TEST_F(HostWord, ACopyThatIsMadeAgainNeverFailsAPlanThatIsHalfWay) {
  at(StepKind::kKick, StepState::kBegun);
  now_ += 10s;
  settle(plan_, decision(), now_);
  const RepairPlan again = plan_;
  begin(plan_, 1, now_);
  EXPECT_EQ(end_act(plan_, Effect::kNone, "its host says that the server runs", now_, now_),
            "failure");
  EXPECT_EQ(plan_.state, PlanState::kUnclear);
  plan_ = again;
  plan_.current()->tries = 3;
  now_ += 10s;
  EXPECT_EQ(move(), Move::kAsk);
  view_.members[1].answers = false;
  EXPECT_EQ(move(), Move::kWait) << "another member is ill";
  kicked();
  EXPECT_EQ(decision(), (Decision{Move::kFinish, "1111 is not listed any more"}))
      << "the kick shows after all";
}

TEST_F(HostWord, ACopyBeforeARejoinIsLeftOutWhenTheMemberIsThere) {
  at(StepKind::kRejoin);
  kicked();
  spoke(std::nullopt);
  settle(plan_, decision(), now_);
  ASSERT_EQ(plan_.current()->name, to_string(StepKind::kCopyDatabase));
  now_ += 10s;
  EXPECT_EQ(move(), Move::kBegin);
  come_back(false);
  EXPECT_EQ(move(), Move::kFinish);
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
