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

class PlanMachine : public PlanFixture {};

TEST_F(PlanMachine, ConfirmsThatTheClusterCanDoWithoutIt) {
  EXPECT_EQ(decision(), (Decision{Move::kFinish, "2 of 3 voters acknowledge, 2 are needed"}));
  view_.acknowledging = 1;
  EXPECT_EQ(move(), Move::kFail);
}

TEST_F(PlanMachine, OnlyAPlanThatRunsGoesOn) {
  for (const PlanState state : {PlanState::kObserved, PlanState::kProposed, PlanState::kUnclear,
                                PlanState::kRejected, PlanState::kWithdrawn}) {
    plan_.state = state;
    EXPECT_EQ(move(), Move::kWait) << to_string(state);
  }
}

TEST_F(PlanMachine, NothingIsDoneOnALookThatIsOlderThanTheLastStep) {
  at(StepKind::kKick);
  plan_.changed = now_ + 1ns;
  EXPECT_EQ(move(), Move::kWait);
  plan_.changed = now_;
  EXPECT_EQ(move(), Move::kBegin);
}

TEST_F(PlanMachine, EveryActChecksItsConditionAgain) {
  for (const StepKind kind : {StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind);
    EXPECT_EQ(move(), Move::kBegin);
    const RepairView well = view_;
    view_.members[1].answers = false;
    EXPECT_EQ(move(), Move::kFail) << to_string(kind);
    view_ = well;
    view_.leader.clear();
    EXPECT_EQ(move(), Move::kFail) << to_string(kind);
    view_ = well;
  }
}

TEST_F(PlanMachine, AMemberThatCameBackIsLeftAlone) {
  const RepairView down = view_;
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind);
    view_.members[2] = {"ctl-3", true, false, false, kOld};
    EXPECT_EQ(move(), Move::kWithdraw) << "it answers before " << to_string(kind);
    view_.members[2] = {"ctl-3", false, true, true, kNew};
    EXPECT_EQ(move(), Move::kWithdraw) << "it joins before " << to_string(kind);
    view_.members[2] = {"ctl-3", false, true, true, kOld};
    EXPECT_EQ(move(), Move::kWithdraw) << "it joins as before, before " << to_string(kind);
    view_ = down;
    view_.servers[2].acknowledges = true;
    EXPECT_EQ(move(), Move::kWithdraw) << "the leader hears it before " << to_string(kind);
    view_ = down;
    kicked();
    EXPECT_EQ(move(), Move::kWithdraw) << "somebody has removed it before " << to_string(kind);
    view_ = down;
  }
}

TEST_F(PlanMachine, AServerThatLivesAgainIsNotKicked) {
  remove_only();
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kKick}) {
    at(kind);
    EXPECT_EQ(move(), kind == StepKind::kKick ? Move::kBegin : Move::kFinish);
    view_.servers[2].answers = true;
    EXPECT_EQ(move(), Move::kWithdraw);
    view_.servers[2].answers = false;
    view_.servers[2].objection = "it is not certain that it is dead";
    EXPECT_EQ(move(), Move::kFail);
    view_.servers[2].objection.reset();
  }
  kicked();
  EXPECT_EQ(move(), Move::kFinish) << "somebody else has done what the plan is for";
}

TEST_F(PlanMachine, ALogThatWentBackStopsRepairs) {
  view_.rolled_back = "ctl-1";
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind);
    EXPECT_EQ(move(), Move::kFail) << to_string(kind);
  }
}

TEST_F(PlanMachine, WhoRunsAgainIsNotRebuilt) {
  at(StepKind::kRejoin);
  kicked();
  const RepairView quiet = view_;
  view_.members[2].runs = true;
  EXPECT_EQ(move(), Move::kAsk);
  plan_.code.reset();  // somebody asked for it, who was told that it may run
  EXPECT_NE(move(), Move::kAsk);
  view_ = quiet;
}

TEST_F(PlanMachine, WhatHoldsActsBackHoldsNothingElseBack) {
  at(StepKind::kKick);
  EXPECT_EQ(decision({.held = "paused", .withdrawn = {}}), (Decision{Move::kWait, "paused"}));
  at(StepKind::kKick, StepState::kBegun);
  kicked();
  EXPECT_EQ(move({.held = "paused", .withdrawn = {}}), Move::kFinish);
}

TEST_F(PlanMachine, WithoutConsentAPlanThatHasChangedNothingIsWithdrawn) {
  const Consent none{.held = {}, .withdrawn = "its policy is gone"};
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind);
    EXPECT_EQ(decision(none), (Decision{Move::kWithdraw, "its policy is gone"}));
  }
}

TEST_F(PlanMachine, WithoutConsentAPlanThatIsHalfWayAsks) {
  const Consent none{.held = "paused", .withdrawn = "its policy is gone"};
  kicked();
  at(StepKind::kRejoin);
  EXPECT_EQ(decision(none), (Decision{Move::kAsk, "its policy is gone"}));
  come_back(true);
  at(StepKind::kVerify);
  EXPECT_EQ(move(none), Move::kFinish) << "looking needs nobody's consent";
}

TEST_F(PlanMachine, WithoutConsentAKickIsNotRepeated) {
  at(StepKind::kKick, StepState::kBegun);
  now_ += 30s;
  EXPECT_EQ(move(), Move::kRepeat);
  EXPECT_EQ(move({.held = {}, .withdrawn = "its policy is gone"}), Move::kAsk);
}

TEST_F(PlanMachine, AMemberThatWasDownAndHangsNowIsNotRebuilt) {
  at(StepKind::kKick);
  view_.members[2].hung = true;
  EXPECT_EQ(decision(), (Decision{Move::kFail, "ctl-3 accepts connections: its process runs"}));
  plan_.code.reset();
  EXPECT_EQ(move(), Move::kBegin) << "somebody asked for it, and was told";
}

TEST_F(PlanMachine, AKickThatWasBegunNeverFailsThePlan) {
  at(StepKind::kKick, StepState::kBegun);
  const RepairView listed = view_;
  view_.members[1].answers = false;
  EXPECT_EQ(move(), Move::kWait) << "another member is ill";
  now_ += 2min;
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1s;
  EXPECT_EQ(move(), Move::kAsk);
  view_ = listed;
  view_.leader.clear();
  EXPECT_EQ(move(), Move::kAsk) << "nobody knows whether it is listed";
  view_ = listed;
  view_.changing = true;
  EXPECT_EQ(move(), Move::kAsk) << "the removal does not end";
}

TEST_F(PlanMachine, AKickThatMayStillComeIsAskedAboutWhenTheMemberLives) {
  at(StepKind::kKick, StepState::kBegun);
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  now_ += 2min;
  EXPECT_EQ(move(), Move::kWait) << "what was sent may still be done";
  now_ += 1s;
  EXPECT_EQ(move(), Move::kAsk);
}

/// To approve it does not call back what was sent: only a person can know that it will not come.
TEST_F(PlanMachine, AnUnclearKickThatIsApprovedIsAskedAboutAgainSoonWhenTheMemberLives) {
  at(StepKind::kKick, StepState::kBegun);
  plan_.current()->tries = 3;
  plan::retry(plan_);
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  now_ += 10s;
  EXPECT_EQ(move(), Move::kWait) << "it may have been begun a moment before";
  now_ += 1s;
  EXPECT_EQ(decision(), (Decision{Move::kAsk,
                                  "ctl-3 answers and takes part, and the removal that "
                                  "was begun may still come: reject the plan when it "
                                  "cannot any more"}));
}

TEST_F(PlanMachine, AnEmptyListIsNoProofOfARemoval) {
  at(StepKind::kKick, StepState::kBegun);
  view_.servers.clear();
  view_.leader.clear();
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, ARejoinWithoutAResultIsNeverRepeatedByItself) {
  at(StepKind::kRejoin, StepState::kBegun);
  plan_.current()->detail = "ended with 255";
  kicked();
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1min;
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1s;
  EXPECT_EQ(
      decision(),
      (Decision{Move::kAsk, "the command was begun, and ctl-3 has not come back: ended with 255"}));
  come_back(false);
  EXPECT_EQ(decision(), (Decision{Move::kWait,
                                  "ctl-3 is aaaa now; the command may still run: "
                                  "waits whether it stays so"}));
  now_ += 1min;
  EXPECT_EQ(decision(), (Decision{Move::kFinish, "ctl-3 is aaaa now"}));
}

TEST_F(PlanMachine, AMemberThatSomebodyElseLetJoinIsNotToldToOnceMore) {
  at(StepKind::kRejoin);
  kicked();
  come_back(false);
  view_.changing = true;
  EXPECT_EQ(decision(), (Decision{Move::kFinish, "ctl-3 is aaaa now, by somebody else's hand"}));
}

TEST_F(PlanMachine, AMemberThatJoinsAsBeforeHasNotBegunAnew) {
  at(StepKind::kRejoin, StepState::kBegun);
  kicked();
  plan_.former = kNew;
  view_.members[2] = {"ctl-3", false, true, false, kNew};
  EXPECT_EQ(move(), Move::kWait);
  plan_.former = {};
  view_.members[2] = {"ctl-3", false, true, false, kOld};
  EXPECT_EQ(move(), Move::kWait);
  view_.members[2] = {"ctl-3", false, true, false, {}};
  EXPECT_EQ(move(), Move::kWait) << "it does not say who it is";
}

TEST_F(PlanMachine, JoinsAnewOnlyWhenTheFormerServerIsGone) {
  at(StepKind::kRejoin);
  EXPECT_EQ(move(), Move::kWait);
  now_ += 61s;
  EXPECT_EQ(move(), Move::kAsk);
  kicked();
  EXPECT_EQ(move(), Move::kRepeat);
  spoke(now_);
  EXPECT_EQ(move(), Move::kBegin);
  view_.acknowledging = 1;
  EXPECT_EQ(move(), Move::kAsk);
  now_ -= 1s;
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, AMemberThatAnswersWithItsOldDatabaseIsNotWiped) {
  at(StepKind::kRejoin);
  kicked();
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  EXPECT_EQ(move(), Move::kAsk);
}

TEST_F(PlanMachine, AMemberThatJoinedByItselfAfterAllIsLeftAlone) {
  stuck_joining();
  view_.changing = false;
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  view_.servers.push_back(listed_server("ctl-3", kOld, true));
  at(StepKind::kCopyDatabase);
  EXPECT_EQ(move(), Move::kWithdraw);
  for (const StepState state : {StepState::kWaiting, StepState::kBegun}) {
    at(StepKind::kRejoin, state);
    EXPECT_EQ(decision(), (Decision{Move::kFinish, "ctl-3 takes part by itself"}));
  }
  plan_.server = kOld;
  EXPECT_EQ(move(), Move::kWait) << "that server was to be gone";
}

TEST_F(PlanMachine, AMemberThatIsStuckJoiningIsRebuilt) {
  stuck_joining();
  EXPECT_EQ(move(), Move::kFinish);
  at(StepKind::kCopyDatabase);
  EXPECT_EQ(move(), Move::kBegin);
  at(StepKind::kRejoin);
  EXPECT_EQ(move(), Move::kBegin);
  view_.members[2].id = kNew;
  at(StepKind::kCopyDatabase);
  EXPECT_EQ(move(), Move::kWithdraw) << "somebody has it join as another server";
}

TEST_F(PlanMachine, AMemberThatALeaderIsAddingIsNotStuck) {
  stuck_joining();
  at(StepKind::kCopyDatabase);
  view_.reconfiguring = true;
  EXPECT_EQ(move(), Move::kFail);
  view_.reconfiguring = false;
  view_.members.push_back({"ctl-4", false, true, true, kNew});
  EXPECT_EQ(decision(), (Decision{Move::kFail, "a server is being added or removed"}))
      << "another member joins";
}

TEST_F(PlanMachine, EndsWhenTheMemberHasEverythingThatWasCommitted) {
  at(StepKind::kVerify);
  kicked();
  EXPECT_EQ(move(), Move::kWait);
  come_back(true);
  view_.servers.back().match_index = 9;
  EXPECT_EQ(decision(), (Decision{Move::kWait, "ctl-3 has entries up to 9 of 10"}));
  view_.servers.back().match_index = 10;
  EXPECT_EQ(move(), Move::kFinish);
  plan_.steps.back().state = StepState::kDone;
  EXPECT_EQ(move(), Move::kEnd);
}

TEST_F(PlanMachine, AMemberThatNeverCatchesUpIsAskedAboutAndNotGivenUp) {
  at(StepKind::kVerify);
  kicked();
  now_ += 10min;
  EXPECT_EQ(move(), Move::kWait);
  now_ += 1s;
  EXPECT_EQ(move(), Move::kAsk);
}

TEST_F(PlanMachine, AMemberThatFallsAgainBeforeItHasEverythingIsAskedAboutAfterAMinute) {
  at(StepKind::kVerify);
  kicked();
  view_.members[2].out_since = now_ - 1h;
  now_ += 60s;
  EXPECT_EQ(move(), Move::kWait) << "it may not have begun yet";
  now_ += 1s;
  EXPECT_EQ(decision(), (Decision{Move::kAsk,
                                  "ctl-3 is down again: bring it back, or reject the plan, and ask "
                                  "for another"}));
  view_.members[2].out_since = now_ - 60s;
  EXPECT_EQ(move(), Move::kWait) << "it may be back in a moment";
  view_.members[2].out_since = now_ - 61s;
  view_.members[2].runs = true;
  EXPECT_EQ(move(), Move::kWait) << "it joins";
}

// What becomes of a plan by what was decided and done.

TEST_F(PlanMachine, AStepThatBeginsIsCountedAndClocked) {
  plan_.reason = "paused";
  begin(plan_, 7, now_ + 1s);
  EXPECT_EQ(plan_.steps[0].state, StepState::kBegun);
  EXPECT_EQ(plan_.steps[0].tries, 1);
  EXPECT_EQ(plan_.token, 7);
  EXPECT_EQ(plan_.changed, now_ + 1s);
  EXPECT_EQ(plan_.reason, "");
}

TEST_F(PlanMachine, WhatWasDoneIsDone) {
  at(StepKind::kKick, StepState::kBegun);
  EXPECT_EQ(end_act(plan_, Effect::kDone, "started removal", now_, now_ + 1s), "result");
  EXPECT_EQ(plan_.steps[2].state, StepState::kDone);
  EXPECT_EQ(plan_.steps[2].detail, "started removal");
  EXPECT_EQ(plan_.state, PlanState::kRunning);
  EXPECT_EQ(plan_.changed, now_ + 1s);
}

TEST_F(PlanMachine, WhatNobodyKnowsIsLookedAtAndFailsNothing) {
  for (const StepKind kind : {StepKind::kCopyDatabase, StepKind::kKick, StepKind::kRejoin}) {
    at(kind, StepState::kBegun);
    EXPECT_EQ(end_act(plan_, Effect::kUnknown, "ended with 255", now_, now_), "unknown");
    EXPECT_EQ(plan_.state, PlanState::kRunning);
    const bool copy = kind == StepKind::kCopyDatabase;
    EXPECT_EQ(plan_.current()->state, copy ? StepState::kWaiting : StepState::kBegun);
    EXPECT_EQ(plan_.current()->tries, 1);
  }
}

TEST_F(PlanMachine, WhatWasNeverBegunFailsThePlanUnlessItIsHalfWay) {
  const RepairPlan before = plan_;
  for (const StepKind kind : {StepKind::kCopyDatabase, StepKind::kKick}) {
    plan_ = before;
    at(kind, StepState::kBegun);
    EXPECT_EQ(end_act(plan_, Effect::kNone, "no such program", now_, now_), "failure");
    EXPECT_EQ(plan_.state, PlanState::kFailed) << to_string(kind);
    EXPECT_EQ(plan_.current()->state, StepState::kFailed);
    EXPECT_EQ(plan_.reason, "no such program");
  }
  plan_ = before;
  at(StepKind::kKick, StepState::kBegun);
  plan_.current()->tries = 2;
  end_act(plan_, Effect::kNone, "no such program", now_, now_);
  EXPECT_EQ(plan_.state, PlanState::kUnclear) << "an earlier try may have been done";
}

TEST_F(PlanMachine, ARejoinThatFailsLeavesTheMemberHalfWayAndAsks) {
  at(StepKind::kRejoin, StepState::kBegun);
  EXPECT_EQ(end_act(plan_, Effect::kNone, "no such program", now_, now_), "failure");
  EXPECT_EQ(plan_.state, PlanState::kUnclear);
}

TEST_F(PlanMachine, WhatSomebodyHasEndedMeanwhileStaysSo) {
  for (const Effect effect : {Effect::kDone, Effect::kUnknown, Effect::kNone}) {
    at(StepKind::kKick, StepState::kBegun);
    plan_.state = PlanState::kRejected;
    plan_.reason = "by ann";
    end_act(plan_, effect, "told", now_, now_ + 1s);
    EXPECT_EQ(plan_.state, PlanState::kRejected);
    EXPECT_EQ(plan_.reason, "by ann");
    EXPECT_EQ(plan_.changed, now_) << "that is when it was rejected";
    EXPECT_EQ(plan_.steps[2].detail, "told");
  }
}

TEST_F(PlanMachine, EachDecisionHasItsEnd) {
  const RepairPlan before = plan_;
  const auto settled = [&](Move move) {
    plan_ = before;
    at(StepKind::kKick);
    if (move == Move::kEnd) at(StepKind::kVerify, StepState::kDone);
    return settle(plan_, {move, "because"}, now_ + 1s);
  };
  EXPECT_EQ(settled(Move::kFinish), "result");
  EXPECT_EQ(plan_.steps[2].state, StepState::kDone);
  EXPECT_EQ(plan_.steps[2].detail, "because");
  EXPECT_EQ(plan_.state, PlanState::kRunning);
  EXPECT_EQ(plan_.reason, "");
  EXPECT_EQ(settled(Move::kEnd), "done");
  EXPECT_EQ(plan_.state, PlanState::kDone);
  EXPECT_EQ(settled(Move::kFail), "failed");
  EXPECT_EQ(plan_.state, PlanState::kFailed);
  EXPECT_EQ(plan_.steps[2].state, StepState::kFailed);
  EXPECT_EQ(plan_.reason, "because");
  EXPECT_EQ(settled(Move::kAsk), "unclear");
  EXPECT_EQ(plan_.state, PlanState::kUnclear);
  EXPECT_EQ(plan_.steps[2].state, StepState::kWaiting);
  EXPECT_EQ(settled(Move::kWithdraw), "withdrawn");
  EXPECT_EQ(plan_.state, PlanState::kWithdrawn);
  EXPECT_EQ(plan_.changed, now_ + 1s);
}

TEST_F(PlanMachine, APlanIsHalfWayFromTheFirstKickOn) {
  EXPECT_FALSE(plan_.acted());
  at(StepKind::kCopyDatabase, StepState::kBegun);
  EXPECT_TRUE(plan_.acted());
  EXPECT_FALSE(plan_.half_way());
  EXPECT_EQ(give_up(plan_, "gone").move, Move::kWithdraw);
  at(StepKind::kKick);
  EXPECT_FALSE(plan_.half_way());
  at(StepKind::kKick, StepState::kBegun);
  EXPECT_TRUE(plan_.half_way());
  EXPECT_EQ(give_up(plan_, "gone"), (Decision{Move::kAsk, "gone"}));
  stuck_joining();
  at(StepKind::kRejoin, StepState::kBegun);
  EXPECT_TRUE(plan_.half_way());
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
