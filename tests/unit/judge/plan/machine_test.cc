#include "judge/plan/machine.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "judge/plan/plan.h"
#include "judge/raft/member_id.h"
#include "judge/raft/survey.h"

namespace wardmote::judge::plan {
namespace {

using raft::Survey;
using namespace std::chrono_literals;

const raft::MemberId kOld = *raft::parse_member_id("11112222-0000-4000-8000-000000000003");
const raft::MemberId kNew = *raft::parse_member_id("aaaabbbb-0000-4000-8000-000000000009");

raft::ListedServer server(const std::string& name, raft::MemberId id, bool well) {
  raft::ListedServer made;
  made.id = id;
  made.address = "tcp:" + name + ":6643";
  made.member = name;
  made.answers = made.acknowledges = well;
  made.match_index = 10;
  return made;
}

/// ctl-3 is down, and everything else is well.
class PlanMachine : public testing::Test {
 protected:
  PlanMachine() {
    survey_.begun = now_;
    survey_.leader = "ctl-1";
    survey_.committed = 10;
    survey_.servers = {
        server("ctl-1", *raft::parse_member_id("0001"), true),
        server("ctl-2", *raft::parse_member_id("0002"), true),
        server("ctl-3", kOld, false),
    };
    survey_.voters = 3;
    survey_.needed = survey_.acknowledging = 2;
    survey_.members = {{"ctl-1", true, false, false, {}},
                       {"ctl-2", true, false, false, {}},
                       {"ctl-3", false, false, true, {}}};
    plan_.id = 1;
    plan_.work = Work::kRebuildMember;
    plan_.cluster = "ovn-nb";
    plan_.member = "ctl-3";
    plan_.server = kOld;
    plan_.address = "tcp:ctl-3:6643";
    plan_.state = PlanState::kRunning;
    plan_.changed = now_;
    for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick,
                                StepKind::kRejoin, StepKind::kVerify}) {
      plan_.steps.push_back({.kind = kind});
    }
  }

  void at(StepKind kind, StepState state = StepState::kWaiting) {
    for (Step& step : plan_.steps) {
      step.state = step.kind == kind ? state : StepState::kDone;
      if (step.kind == kind) return;
    }
  }
  void kicked() {
    survey_.servers.pop_back();
    survey_.voters = 2;
  }
  void come_back(bool whole) {
    survey_.members[2] = {"ctl-3", whole, !whole, false, kNew};
    if (!whole) return;
    survey_.servers.push_back(server("ctl-3", kNew, true));
    survey_.voters = survey_.acknowledging = 3;
  }
  Move move(std::optional<std::string> brake = std::nullopt) {
    survey_.begun = now_;
    return decide(plan_, survey_, brake, now_).move;
  }

  TimePoint now_{std::chrono::hours(10)};
  Survey survey_;
  Plan plan_;
};

TEST_F(PlanMachine, ConfirmsThatTheClusterCanDoWithoutIt) {
  EXPECT_EQ(move(), Move::kFinish);
  survey_.acknowledging = 1;
  EXPECT_EQ(move(), Move::kFail);
}

TEST_F(PlanMachine, NothingIsDoneOnALookThatIsOlderThanTheLastStep) {
  at(StepKind::kKick);
  plan_.changed = now_ + 1s;
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, EveryActChecksItsConditionAgain) {
  for (const StepKind kind : {StepKind::kCopyDatabase, StepKind::kKick}) {
    at(kind);
    EXPECT_EQ(move(), Move::kBegin);
    Survey well = survey_;
    survey_.members[1].answers = false;
    EXPECT_EQ(move(), Move::kFail) << to_string(kind);
    survey_ = well;
    survey_.leader.clear();
    EXPECT_EQ(move(), Move::kFail) << to_string(kind);
    survey_ = well;
    survey_.members[2] = {"ctl-3", true, false, false, kOld};
    EXPECT_EQ(move(), Move::kFail) << "it came back by itself";
    survey_ = well;
  }
}

TEST_F(PlanMachine, ABrakeHoldsActsBackAndNothingElse) {
  at(StepKind::kKick);
  EXPECT_EQ(move("paused"), Move::kWait);
  kicked();
  EXPECT_EQ(move("paused"), Move::kFinish);
  at(StepKind::kConfirmQuorum);
}

TEST_F(PlanMachine, AKickWithoutAResultIsLookedAtFirst) {
  at(StepKind::kKick, StepState::kBegun);
  survey_.changing = true;
  EXPECT_EQ(move(), Move::kWait);
  survey_.changing = false;
  EXPECT_EQ(move(), Move::kBegin) << "it is still listed, and the id is never given again";
  now_ += 5min;
  EXPECT_EQ(move(), Move::kAsk);
  kicked();
  EXPECT_EQ(move(), Move::kFinish);
}

TEST_F(PlanMachine, AnEmptyListIsNoProofOfARemoval) {
  at(StepKind::kKick, StepState::kBegun);
  survey_.servers.clear();
  survey_.leader.clear();
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, ARejoinWithoutAResultIsNeverRepeatedByItself) {
  at(StepKind::kRejoin, StepState::kBegun);
  kicked();
  EXPECT_EQ(move(), Move::kWait);
  now_ += 5min;
  EXPECT_EQ(move(), Move::kAsk);
  come_back(false);
  EXPECT_EQ(move(), Move::kFinish);
}

TEST_F(PlanMachine, AMemberThatJoinsAsBeforeHasNotBegunAnew) {
  at(StepKind::kRejoin, StepState::kBegun);
  kicked();
  plan_.former = kNew;
  survey_.members[2] = {"ctl-3", false, true, false, kNew};
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, JoinsAnewOnlyWhenTheFormerServerIsGone) {
  at(StepKind::kRejoin);
  EXPECT_EQ(move(), Move::kWait);
  kicked();
  EXPECT_EQ(move(), Move::kBegin);
  survey_.acknowledging = 1;
  EXPECT_EQ(move(), Move::kWait);
}

TEST_F(PlanMachine, EndsWhenTheMemberHasEverythingThatWasCommitted) {
  at(StepKind::kVerify);
  kicked();
  EXPECT_EQ(move(), Move::kWait);
  come_back(true);
  survey_.servers.back().match_index = 9;
  EXPECT_EQ(move(), Move::kWait);
  survey_.servers.back().match_index = 10;
  EXPECT_EQ(move(), Move::kFinish);
  plan_.steps.back().state = StepState::kDone;
  EXPECT_EQ(move(), Move::kEnd);
}

TEST_F(PlanMachine, AMemberThatNeverCatchesUpIsAFailure) {
  at(StepKind::kVerify);
  kicked();
  now_ += 11min;
  EXPECT_EQ(move(), Move::kFail);
}

}  // namespace
}  // namespace wardmote::judge::plan
