// Whoever lives while a plan for it runs.

#include <chrono>

#include <gtest/gtest.h>

#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair_view.h"
#include "unit/judge/raft/repair/plan_fixture.h"

namespace wardmote::judge::raft::repair {
namespace {

using plan::begin;
using plan::end_act;
using plan::keep_notes;
using plan::note_life;
using plan::reason_to_stop;
using plan::retry;
using namespace std::chrono_literals;

class PlanLife : public PlanFixture {
 protected:
  /// Whether the look shows that it lives, which was not known.
  bool see() {
    plan::Plan stored = plan_.stored();
    const bool news = note_life(stored, RaftRemedy({"ovn-nb", "OVN_Northbound", {}}, view_));
    plan_.steps = stored.steps;
    return news;
  }
  void forget_life() {
    for (Step& step : plan_.steps) {
      step.sign_of_life.clear();
      step.seen_as.clear();
    }
  }
};

TEST_F(PlanLife, WhoShowedLifeWhileItWasRemovedNeedsAPerson) {
  for (const bool only : {false, true}) {
    if (only) remove_only();
    at(StepKind::kKick, StepState::kBegun);
    EXPECT_FALSE(see());
    view_.servers[2].acknowledges = true;
    EXPECT_TRUE(see());
    EXPECT_FALSE(see()) << "that is no news";
    EXPECT_EQ(end_act(plan_, Effect::kDone, "", now_, now_), "unknown");
    const RepairView before = view_;
    kicked();
    EXPECT_EQ(decision(), (Decision{Move::kAsk,
                                    "1111 is not listed any more, but while that was being done "
                                    "the leader hears 1111: it lived then"}));
    view_ = before;
    view_.servers[2].acknowledges = false;
    forget_life();
  }
}

/// It is gone again, which is another case: the policy has not waited for that one.
TEST_F(PlanLife, WhoLivedWhileThePlanRanIsNotTakenForTheOneItIsFor) {
  for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind, kind == StepKind::kCopyDatabase ? StepState::kBegun : StepState::kWaiting);
    const RepairView down = view_;
    view_.members[2] = {"ctl-3", true, false, false, kOld};
    EXPECT_TRUE(see());
    view_ = down;
    EXPECT_EQ(
        decision(),
        (Decision{Move::kWithdraw, "it lived since the plan began: ctl-3 answers and takes part"}));
    forget_life();
  }
}

TEST_F(PlanLife, AKickIsNotRepeatedWhenItsServerLivedSinceThen) {
  at(StepKind::kKick, StepState::kBegun);
  view_.servers[2].acknowledges = true;
  EXPECT_TRUE(see());
  EXPECT_EQ(move(), Move::kWait) << "the kick may still show";
  view_.servers[2].acknowledges = false;
  plan_.changed = now_ - 30s;
  EXPECT_EQ(decision(), (Decision{Move::kAsk,
                                  "it lived since that was begun (the leader hears 1111): it is "
                                  "not done again"}));
  view_.servers[2].acknowledges = true;
  plan_.changed = now_ - 3min;
  EXPECT_EQ(move(), Move::kAsk) << "nobody knows whether the kick still comes";
}

/// The leader has taken the kick, and could not commit it at once.
TEST_F(PlanLife, WhoLivesAsLongAsItIsListedIsToldOf) {
  for (const bool only : {false, true}) {
    if (only) remove_only();
    at(only ? StepKind::kVerify : StepKind::kRejoin);
    const RepairView before = view_;
    view_.servers[2].shows_life = true;
    EXPECT_TRUE(see());
    view_ = before;
    kicked();
    EXPECT_EQ(move(), Move::kAsk);
    view_ = before;
    forget_life();
  }
}

TEST_F(PlanLife, AJoinerThatGetsInWhileItIsToldToJoinAnewIsToldOf) {
  stuck_joining();
  at(StepKind::kRejoin, StepState::kBegun);
  EXPECT_FALSE(see());
  view_.members[2] = {"ctl-3", true, false, false, kOld};
  EXPECT_TRUE(see());
  forget_life();
  view_.members[2] = {"ctl-3", true, false, false, kNew};
  see();
  EXPECT_FALSE(plan_.stored().sign_of_life()) << "that is what the plan wants";
}

/// The leader's list lacks it from when it takes the kick, and its log may take it much later.
TEST_F(PlanLife, WhoIsConnectedBeforeItsRemovalIsCommittedIsToldOf) {
  remove_only();
  at(StepKind::kVerify);
  kicked();
  view_.strangers = {"2222"};
  EXPECT_FALSE(see());
  view_.strangers = {"2222", "1111"};
  EXPECT_TRUE(see());
  view_.strangers.clear();
  EXPECT_EQ(decision(), (Decision{Move::kAsk,
                                  "1111 is not listed any more, but while that was being done 1111 "
                                  "is connected to others: it lived then"}));
}

/// Somebody else brought it back, and the command empties it once more.
TEST_F(PlanLife, AMemberThatIsEmptiedASecondTimeIsToldOf) {
  const MemberId by_hand = *parse_member_id("ddddeeee-0000-4000-8000-000000000009");
  for (const bool known : {false, true}) {
    at(StepKind::kRejoin, StepState::kBegun);
    kicked();
    const RepairView down = view_;
    EXPECT_FALSE(see());
    view_.members[2] = {"ctl-3", true, false, false, by_hand};
    EXPECT_TRUE(see()) << "by this agent, or by the one that is led next";
    EXPECT_FALSE(see());
    view_ = down;
    EXPECT_FALSE(see());
    if (known) at(StepKind::kVerify);
    come_back(true);
    EXPECT_TRUE(see());
    EXPECT_EQ(plan_.stored().sign_of_life(), "ctl-3 took part as dddd before it was aaaa");
    now_ += 3min;
    EXPECT_EQ(move(), Move::kAsk);
    now_ -= 3min;
    forget_life();
    view_ = down;
    view_.servers.push_back(listed_server("ctl-3", kOld, false));
  }
}

TEST_F(PlanLife, WhatBroughtItBackIsWaitedForWhileItMayStillRun) {
  at(StepKind::kRejoin, StepState::kBegun);
  kicked();
  come_back(true);
  EXPECT_EQ(move(), Move::kWait) << "nobody has heard how the command ended";
  now_ += 2min;
  EXPECT_EQ(move(), Move::kFinish);
  at(StepKind::kRejoin, StepState::kWaiting);
  plan_.find(StepKind::kRejoin)->tries = 1;
  plan_.changed = now_;
  EXPECT_EQ(move(), Move::kFinish) << "approved anew: somebody has looked";
}

TEST_F(PlanLife, ACommandIsEndedOnceItCanOnlyDoHarm) {
  at(StepKind::kRejoin, StepState::kBegun);
  kicked();
  come_back(true);
  plan::Plan stored = plan_.stored();
  stored.subject = "ctl-3";
  note_life(stored, RaftRemedy({"ovn-nb", "OVN_Northbound", {}}, view_));
  EXPECT_FALSE(reason_to_stop(stored, now_ + 14s)) << "it may clean up after itself";
  EXPECT_EQ(reason_to_stop(stored, now_ + 15s),
            "ctl-3 takes part, and what still runs could only harm it");
  plan::Plan read_again = plan_.stored();
  keep_notes(read_again, stored);
  EXPECT_EQ(read_again.find("rejoin")->seen_as, to_string(kNew));
  stored.state = PlanState::kUnclear;
  retry(stored);
  EXPECT_EQ(stored.find("rejoin")->seen_as, "") << "whoever approves it has looked";
}

/// An agent that was killed, stopped or cut off in the middle.
TEST_F(PlanLife, ARemovalThatNobodyWatchedIsNotCalledDone) {
  remove_only();
  at(StepKind::kKick);
  plan::Plan begun = plan_.stored();
  begin(begun, 1, now_);
  plan_.steps = begun.steps;
  const auto look_after = [&](Duration time) {
    now_ += time;
    view_.begun = now_;
    see();
  };
  for (int i = 0; i < 5; ++i) look_after(8s);
  const RepairView listed = view_;
  kicked();
  EXPECT_EQ(move(), Move::kFinish);
  view_ = listed;
  look_after(11s);
  kicked();
  EXPECT_EQ(move(), Move::kAsk) << "there was time to come and go";
  plan_.find(StepKind::kKick)->tries = 0;
  EXPECT_EQ(move(), Move::kFinish) << "somebody has looked, and approved it anew";
  view_ = listed;
}

TEST_F(PlanLife, ALookThatShowsNoLifeIsNoWatch) {
  remove_only();
  at(StepKind::kKick, StepState::kBegun);
  plan_.find(StepKind::kKick)->watched = now_;
  view_.leader.clear();
  for (int i = 0; i < 3; ++i) {
    now_ += 5s;
    view_.begun = now_;
    see();
  }
  view_.leader = "ctl-1";
  kicked();
  EXPECT_EQ(move(), Move::kAsk);
}

/// What it saw is not written down while the store is away.
TEST_F(PlanLife, WhatAnAgentNotedIsKeptWhenItReadsThePlanAgain) {
  at(StepKind::kKick, StepState::kBegun);
  plan::Plan stored = plan_.stored();
  plan::Plan before = stored;
  before.find("kick")->sign_of_life = "the leader hears 1111";
  before.find("kick")->watched = now_;
  keep_notes(stored, before);
  EXPECT_EQ(stored, before);
  plan::Plan unclear = plan_.stored();
  unclear.state = PlanState::kUnclear;
  keep_notes(unclear, before);
  EXPECT_FALSE(unclear.sign_of_life());
  plan::Plan again = plan_.stored();
  ++again.find("kick")->tries;
  keep_notes(again, before);
  EXPECT_FALSE(again.find("kick")->watched) << "of another try";
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
