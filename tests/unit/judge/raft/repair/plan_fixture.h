#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "judge/plan/consent.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/raft/member_id.h"
#include "judge/raft/repair/remedy.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"

namespace wardmote::judge::raft::repair {

using plan::Consent;
using plan::Decision;
using plan::Effect;
using plan::Move;
using plan::PlanState;
using plan::Step;
using plan::StepState;

inline const MemberId kOld = *parse_member_id("11112222-0000-4000-8000-000000000003");
inline const MemberId kNew = *parse_member_id("aaaabbbb-0000-4000-8000-000000000009");

inline RepairServer listed_server(const std::string& name, MemberId id, bool well) {
  RepairServer made;
  made.id = id;
  made.address = "tcp:" + name + ":6643";
  made.member = name;
  made.answers = made.acknowledges = well;
  made.match_index = 10;
  return made;
}

/// ctl-3 is down, everything else is well, and a plan rebuilds it.
class PlanFixture : public ::testing::Test {
 protected:
  PlanFixture() {
    view_.begun = now_;
    view_.leader = "ctl-1";
    view_.committed = 10;
    view_.servers = {
        listed_server("ctl-1", *parse_member_id("0001"), true),
        listed_server("ctl-2", *parse_member_id("0002"), true),
        listed_server("ctl-3", kOld, false),
    };
    view_.servers.front().leads = true;
    view_.voters = 3;
    view_.needed = view_.acknowledging = 2;
    view_.members = {{"ctl-1", true, false, false, {}},
                     {"ctl-2", true, false, false, {}},
                     {"ctl-3", false, false, true, {}}};
    plan_.id = 1;
    plan_.policy = "repair";
    plan_.work = Work::kRebuildMember;
    plan_.target = {ThingKind::kCluster, "ovn-nb"};
    plan_.member = "ctl-3";
    plan_.server = kOld;
    plan_.address = "tcp:ctl-3:6643";
    plan_.code = Code::kRaftMemberDown;
    plan_.state = PlanState::kRunning;
    plan_.changed = now_;
    for (const StepKind kind : {StepKind::kConfirmQuorum, StepKind::kCopyDatabase, StepKind::kKick,
                                StepKind::kRejoin, StepKind::kVerify}) {
      plan_.add(kind);
    }
  }

  /// The plan only removes the server, which belongs to nobody.
  void remove_only() {
    plan_.work = Work::kRemoveServer;
    plan_.member.clear();
    plan_.code = Code::kRaftStaleMember;
    plan_.steps = {step_of(StepKind::kConfirmQuorum), step_of(StepKind::kKick),
                   step_of(StepKind::kVerify)};
    view_.members.pop_back();
    view_.servers.back().member.clear();
  }
  /// The plan is for a member that joins as this server, and gets no further.
  void stuck_joining() {
    plan_.code = Code::kRaftJoiningStuck;
    plan_.server = {};
    plan_.address.clear();
    plan_.former = kOld;
    std::erase_if(plan_.steps,
                  [](const Step& step) { return step.name == to_string(StepKind::kKick); });
    view_.servers.pop_back();
    view_.voters = 2;
    view_.members[2] = {"ctl-3", false, true, true, kOld};
    view_.changing = true;
  }
  /// When the host said last that nothing runs there.
  void spoke(std::optional<TimePoint> at) {
    if (plan_.find(StepKind::kCopyDatabase) == nullptr) return;
    word() = at ? std::optional(plan::Success{*at, *at, *at}) : std::nullopt;
  }
  /// What it said, when.
  std::optional<plan::Success>& word() { return plan_.find(StepKind::kCopyDatabase)->succeeded; }
  /// The host has said a moment before that nothing runs there.
  void at(StepKind kind, StepState state = StepState::kWaiting) {
    spoke(now_ - std::chrono::seconds(1));
    for (Step& step : plan_.steps) {
      const bool its = step.name == to_string(kind);
      step.state = its ? state : StepState::kDone;
      step.tries = state == StepState::kBegun || !its ? 1 : 0;
      if (its) return;
    }
  }
  void kicked() {
    std::erase_if(view_.servers, [](const RepairServer& server) { return server.id == kOld; });
    view_.voters = 2;
  }
  void come_back(bool whole) {
    view_.members[2] = {"ctl-3", whole, !whole, false, kNew};
    if (!whole) return;
    view_.servers.push_back(listed_server("ctl-3", kNew, true));
    view_.voters = view_.acknowledging = 3;
  }
  Decision decision(Consent consent = {}) {
    view_.begun = now_;
    return plan::decide(plan_.stored(), RaftRemedy({"ovn-nb", "OVN_Northbound", {}}, view_),
                        consent, now_);
  }
  Move move(Consent consent = {}) { return decision(std::move(consent)).move; }

  TimePoint now_{std::chrono::hours(10)};
  RepairView view_;
  RepairPlan plan_;
};

}  // namespace wardmote::judge::raft::repair
