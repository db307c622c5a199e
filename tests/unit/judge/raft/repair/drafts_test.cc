// What a new plan says, why there is none, and the words that records and the API use.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/repair_view.h"
#include "judge/remedies.h"
#include "unit/judge/raft/repair/plan_site.h"

namespace wardmote::judge::raft::repair {
namespace {

using namespace std::chrono_literals;
using plan::Planner;
using plan::Refusal;
using Kinds = std::vector<StepKind>;

const ThingId kNorthbound{ThingKind::kCluster, "ovn-nb"};

Kinds kinds_of(const RepairPlan& plan) {
  Kinds kinds;
  for (const Step& step : plan.steps) kinds.push_back(parse_step_kind(step.name).value());
  return kinds;
}

TEST(PlanDraft, ARemovalSaysEverythingAboutItself) {
  Site site = site_with_ghost(policy(true, true));
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.id, 1);
  EXPECT_EQ(plan.policy, "repair");
  EXPECT_EQ(plan.proposer, "policy repair");
  EXPECT_EQ(plan.target, (ThingId{ThingKind::kCluster, "ovn-nb"}));
  EXPECT_EQ(plan.database, "OVN_Northbound");
  EXPECT_EQ(plan.member, "");
  EXPECT_EQ(plan.address, "tcp:10.0.0.3:6643");
  EXPECT_EQ(plan.code, Code::kRaftStaleMember);
  EXPECT_TRUE(plan.why.contains("1430 is listed at tcp:10.0.0.3:6643")) << plan.why;
  EXPECT_EQ(plan.created, plan.changed);
  EXPECT_GT(plan.created, TimePoint{});
  EXPECT_EQ(kinds_of(plan), (Kinds{StepKind::kConfirmQuorum, StepKind::kKick, StepKind::kVerify}));
  EXPECT_EQ(plan.summary, "kick 1430 (tcp:10.0.0.3:6643) out of ovn-nb");
}

// Somebody asked for the rebuild of a stopped server, and was not told that it lived.
TEST(PlanDraft, WhoAsksForTheRebuildOfAHungMemberIsToldThatItRuns) {
  Site site(3);
  site.watch(5s);
  site.cluster.kill(2, ReasonCode::kHung);
  site.watch(60s);
  const auto asked =
      site.planner.propose(site.remedy({"ctl-3"}), "ctl-3", "ann", site.cluster.now());
  ASSERT_TRUE(asked.has_value()) << asked.error();
  const Plan& plan = site.planner.plans().at(*asked);
  EXPECT_TRUE(plan.why.contains("its process runs")) << plan.why;
}

TEST(PlanDraft, ARebuildSaysEverythingAboutItself) {
  Site site(3, {policy(true, true)});
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(120s);
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.database, "OVN_Northbound");
  EXPECT_EQ(plan.address, "tcp:10.0.0.3:6643");
  EXPECT_EQ(plan.code, Code::kRaftMemberDown);
  EXPECT_TRUE(plan.why.starts_with("nobody listens at ctl-3 (1430)")) << plan.why;
  EXPECT_EQ(kinds_of(plan), (Kinds{StepKind::kConfirmQuorum, StepKind::kCopyDatabase,
                                   StepKind::kKick, StepKind::kRejoin, StepKind::kVerify}));
  EXPECT_EQ(plan.summary, "rebuild ctl-3 of ovn-nb, which was 1430 (tcp:10.0.0.3:6643)");
}

// It was kicked on the word of its host, which spoke of the server that joined.
TEST(PlanDraft, TheFormerServerOfAMemberThatJoinsIsNotKicked) {
  Site site(5, {policy(true, true)});
  site.watch(5s);
  Node& joiner = site.cluster.node(2);
  joiner.id = *parse_member_id("2ef90000-dac6-4762-a00e-834c7c7479df");
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  site.watch(120s);
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.code, Code::kRaftJoiningStuck);
  EXPECT_EQ(kinds_of(plan), (Kinds{StepKind::kConfirmQuorum, StepKind::kCopyDatabase,
                                   StepKind::kRejoin, StepKind::kVerify}));
  EXPECT_FALSE(plan.server.known());
  EXPECT_EQ(plan.address, "tcp:10.0.0.3:6643") << "it joins with it again";
  EXPECT_EQ(plan.summary, "rebuild ctl-3 of ovn-nb");
}

// What joined ends: its host still tells nothing of the one that is listed.
TEST(PlanDraft, TheFormerServerOfAMemberThatJoinedInVainAndEndedIsNotKicked) {
  Site site(5, {policy(true, true)});
  site.watch(5s);
  Node& joiner = site.cluster.node(2);
  joiner.id = *parse_member_id("2ef90000-dac6-4762-a00e-834c7c7479df");
  joiner.standing = Standing::kJoining;
  joiner.own_list = std::vector<Server>{};
  site.watch(20s);
  site.cluster.kill(2);
  site.watch(10min);
  EXPECT_TRUE(site.planner.plans().empty());
  EXPECT_EQ(site.refusal(), "nobody knows whether ctl-3 was 1430");
}

TEST(PlanDraft, WhatSomebodyAsksForSaysSo) {
  Policy elsewhere = policy();
  elsewhere.name = "elsewhere";
  elsewhere.clusters = {"ovn-sb"};
  Policy ghosts = policy();
  ghosts.name = "ghosts";
  ghosts.on = {Code::kRaftStaleMember};
  Policy members = policy();
  members.on = {Code::kRaftStaleMember, Code::kRaftMemberDown};
  Site site(3, {elsewhere, ghosts, members});
  site.watch(5s);
  site.cluster.kill(2);
  site.watch(20s);
  ASSERT_TRUE(site.planner.propose(site.remedy({"ctl-3"}), "ctl-3", "bob", site.cluster.now()));
  const RepairPlan plan = site.the_repair();
  EXPECT_EQ(plan.policy, "repair") << "the one that is for members of this cluster";
  EXPECT_EQ(plan.proposer, "bob");
  EXPECT_EQ(plan.why, "asked for");
  EXPECT_EQ(plan.database, "OVN_Northbound");
  EXPECT_EQ(plan.target, (ThingId{ThingKind::kCluster, "ovn-nb"}));
  EXPECT_EQ(plan.state, PlanState::kProposed);
  EXPECT_FALSE(plan.code);
}

TEST(PlanDraft, ARefusalNamesPolicyClusterFindingAndSubject) {
  Site site(5);
  site.watch(5s);
  site.cluster.kill(3);
  site.cluster.kill(4);
  site.watch(60s);
  ASSERT_EQ(site.planner.refusals().size(), 2U);
  EXPECT_EQ(site.planner.refusals()[1],
            (Refusal{"repair", kNorthbound, Code::kRaftMemberDown, "ctl-5",
                     "ctl-4 is not well either: one member at a time"}));
  const RaftRemedy southbound({"ovn-sb", "OVN_Southbound", {}}, site.view);
  site.planner.consider(southbound, {}, std::nullopt, site.cluster.now());
  EXPECT_EQ(site.planner.refusals().size(), 2U) << "another cluster was judged";
  site.planner.consider(site.remedy(), {}, std::nullopt, site.cluster.now());
  EXPECT_TRUE(site.planner.refusals().empty());
}

TEST(PlanDraft, AFindingOfNobodyKnownIsRefused) {
  Finding unknown;
  unknown.code = Code::kRaftMemberDown;
  Planner planner({policy()});
  const std::vector<Finding> findings(300, unknown);
  const RaftRemedy remedy({"ovn-nb", "OVN_Northbound", {}}, RepairView{});
  planner.consider(remedy, findings, std::nullopt, TimePoint(10h));
  ASSERT_EQ(planner.refusals().size(), 200U) << "no more are remembered";
  EXPECT_EQ(planner.refusals().front(), (Refusal{"repair", kNorthbound, Code::kRaftMemberDown, "",
                                                 "it is not certain which server that is"}));
  EXPECT_TRUE(planner.plans().empty());
}

TEST(PlanDraft, AnIncidentIsThatOfItsPlan) {
  Site site = site_with_ghost(policy(true, true));
  site.planner.set_incident(7, 9);
  EXPECT_EQ(site.the_plan().incident, 0);
  site.planner.set_incident(1, 9);
  EXPECT_EQ(site.the_plan().incident, 9);
}

// A record may be damaged, or of a later version. What it would do, nobody knows.
TEST(PlanDraft, APlanThatIsNotUnderstoodIsAskedAbout) {
  Site site = site_with_ghost(policy(true, true));
  const RaftRemedy remedy = site.remedy();
  const Plan whole = site.the_plan();
  EXPECT_FALSE(remedy.obstacle(whole));
  const auto asks = [&](const Plan& plan) {
    EXPECT_TRUE(remedy.obstacle(plan)) << plan.remedy;
    EXPECT_FALSE(remedy.is_well(plan));
    EXPECT_FALSE(remedy.is_same(plan, whole));
    EXPECT_FALSE(remedy.is_rejected_by(plan, whole));
    EXPECT_FALSE(remedy.stands_since(plan, site.last.findings.front()));
    return remedy.decide(plan, site.cluster.now()).move == plan::Move::kAsk;
  };
  Plan damaged = whole;
  damaged.remedy = "reboot_host";
  EXPECT_TRUE(asks(damaged));
  damaged = whole;
  damaged.args["server"] = "no id";
  EXPECT_TRUE(asks(damaged));
  damaged = whole;
  damaged.steps.front().name = "jump";
  EXPECT_EQ(remedy.decide(damaged, site.cluster.now()),
            (plan::Decision{plan::Move::kAsk, "the step jump is not known"}));
}

TEST(PlanDraft, WhatAStepNeedsToKnowIsThatOfTheMoment) {
  Site site = site_with_ghost(policy(true, true));
  const auto moment = site.remedy().request(site.the_plan());
  EXPECT_EQ(moment.at("leader"), "ctl-1");
  EXPECT_EQ(moment.at("remotes"), "tcp:10.0.0.1:6643 tcp:10.0.0.2:6643");
  EXPECT_TRUE(parse_member_id(moment.at("cluster_id")));
}

// Records and the API use these words: docs/plans.md.

TEST(PlanWords, AreReadAsTheyAreWritten) {
  const std::vector<std::pair<StepKind, std::string_view>> kinds = {
      {StepKind::kConfirmQuorum, "confirm_quorum"},
      {StepKind::kCopyDatabase, "copy_database"},
      {StepKind::kKick, "kick"},
      {StepKind::kRejoin, "rejoin"},
      {StepKind::kVerify, "verify"}};
  for (const auto& [kind, word] : kinds) {
    EXPECT_EQ(to_string(kind), word);
    EXPECT_EQ(parse_step_kind(word), kind);
  }
  const std::vector<std::pair<PlanState, std::string_view>> states = {
      {PlanState::kObserved, "observed"}, {PlanState::kProposed, "proposed"},
      {PlanState::kRunning, "running"},   {PlanState::kUnclear, "unclear"},
      {PlanState::kDone, "done"},         {PlanState::kFailed, "failed"},
      {PlanState::kRejected, "rejected"}, {PlanState::kWithdrawn, "withdrawn"}};
  for (const auto& [state, word] : states) {
    EXPECT_EQ(to_string(state), word);
    EXPECT_EQ(plan::parse_plan_state(word), state);
  }
  for (const StepState state :
       {StepState::kWaiting, StepState::kBegun, StepState::kDone, StepState::kFailed})
    EXPECT_EQ(plan::parse_step_state(to_string(state)), state);
  for (const Work work : {Work::kRemoveServer, Work::kRebuildMember}) {
    EXPECT_EQ(parse_work(to_string(work)), work);
    EXPECT_NE(find_remedy(to_string(work)), nullptr);
  }
  for (const plan::Impact impact : {plan::Impact::kNone, plan::Impact::kHarmless,
                                    plan::Impact::kIdempotent, plan::Impact::kOnce})
    EXPECT_EQ(plan::parse_impact(to_string(impact)), impact);
  EXPECT_EQ(plan::parse_plan_state("unknown"), std::nullopt);
  EXPECT_EQ(to_string(static_cast<PlanState>(99)), "unknown");
}

TEST(PlanWords, OnlyGoneServersAndMembersThatAreOutHaveWork) {
  const auto remedy = [](Code code) {
    const RemedyInfo* const info = remedy_for(code);
    return info == nullptr ? std::nullopt : parse_work(info->name);
  };
  EXPECT_EQ(remedy(Code::kRaftStaleMember), Work::kRemoveServer);
  EXPECT_EQ(remedy(Code::kRaftDeadMember), Work::kRemoveServer);
  EXPECT_EQ(remedy(Code::kRaftMemberDown), Work::kRebuildMember);
  EXPECT_EQ(remedy(Code::kRaftJoiningStuck), Work::kRebuildMember);
  EXPECT_EQ(remedy_for(Code::kRaftUnexpectedMember), nullptr);
  EXPECT_EQ(remedy_for(Code::kRaftMemberHung), nullptr);
}

}  // namespace
}  // namespace wardmote::judge::raft::repair
