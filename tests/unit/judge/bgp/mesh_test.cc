#include "judge/bgp/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace wardmote::judge::bgp {
namespace {

using namespace std::chrono_literals;

std::string address_of(int node) {
  return fmt::format("10.0.0.{}", node);
}

Session session(int to, SessionState state, std::string last_error = {}) {
  Session session;
  session.name = fmt::format("Mesh_10_0_0_{}", to);
  session.address = address_of(to);
  session.state = state;
  session.last_error = std::move(last_error);
  session.remote_as = 64512;
  session.local_as = 64512;
  session.in_state = 1min;
  return session;
}

MeshView view(int node, std::vector<Session> sessions) {
  BgpFacts facts;
  facts.router_id = address_of(node);
  facts.sessions = std::move(sessions);
  return {fmt::format("node-{}", node), {}, std::move(facts), {}};
}

constexpr SessionState kUp = SessionState::kEstablished;

/// Three nodes, all sessions up.
std::vector<MeshView> healthy() {
  return {view(1, {session(2, kUp), session(3, kUp)}), view(2, {session(1, kUp), session(3, kUp)}),
          view(3, {session(1, kUp), session(2, kUp)})};
}

/// The problems when the two ends of the session between 1 and 2 are these.
std::vector<MeshProblem> problems_of(Session at_1, Session at_2) {
  std::vector<MeshView> views = healthy();
  views[0].facts->sessions[0] = std::move(at_1);
  views[1].facts->sessions[0] = std::move(at_2);
  return assess_mesh(views, {}).problems;
}

MeshFault only_fault(Session at_1, Session at_2) {
  const auto problems = problems_of(std::move(at_1), std::move(at_2));
  EXPECT_EQ(problems.size(), 1U);
  return problems.empty() ? MeshFault::kDown : problems[0].fault;
}

TEST(BgpMesh, AllUpIsOk) {
  const Mesh mesh = assess_mesh(healthy(), {});
  EXPECT_EQ(mesh.outcome, Outcome::kOk);
  EXPECT_TRUE(mesh.problems.empty());
  EXPECT_EQ(mesh.cells[0], (std::vector<MeshCell>{MeshCell::kSelf, MeshCell::kUp, MeshCell::kUp}));
}

TEST(BgpMesh, WhatTheEndsSayDifferently) {
  EXPECT_EQ(only_fault(session(2, kUp), session(1, SessionState::kActive)), MeshFault::kAsymmetric);
  Session fresh = session(1, SessionState::kActive);
  fresh.in_state = 1s;
  EXPECT_TRUE(problems_of(session(2, kUp), fresh).empty()) << "one end hears of it first";
}

TEST(BgpMesh, SilenceOnBothSidesIsAPasswordOrAFirewall) {
  EXPECT_EQ(only_fault(session(2, SessionState::kConnect), session(1, SessionState::kActive)),
            MeshFault::kPasswordSuspected);
  EXPECT_EQ(only_fault(session(2, SessionState::kConnect), session(1, SessionState::kPassive)),
            MeshFault::kNoAnswer);
}

TEST(BgpMesh, RefusedIsToldFromNoRouteAndFromNoAnswer) {
  EXPECT_EQ(only_fault(session(2, SessionState::kActive, "Socket: Connection refused"),
                       session(1, SessionState::kPassive)),
            MeshFault::kRefused);
  EXPECT_EQ(only_fault(session(2, SessionState::kActive, "Socket: No route to host"),
                       session(1, SessionState::kActive)),
            MeshFault::kUnreachable);
}

TEST(BgpMesh, AWrongAsIsSeenInTheConfigurationOfBothAndInTheError) {
  Session wrong = session(2, SessionState::kIdle, "BGP Error: Bad peer AS");
  wrong.remote_as = 64999;
  const auto problems = problems_of(wrong, session(1, SessionState::kActive));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].fault, MeshFault::kWrongAs);
  EXPECT_EQ(problems[0].summary, "node-1 expects AS 64999 of node-2, which is AS 64512");
  Session untold = session(2, SessionState::kIdle, "BGP Error: Bad peer AS");
  untold.remote_as.reset();
  EXPECT_EQ(only_fault(untold, session(1, SessionState::kActive)), MeshFault::kWrongAs);
}

TEST(BgpMesh, DisabledIsNotCritical) {
  Session off = session(2, SessionState::kDown);
  off.admin_down = true;
  const auto problems =
      problems_of(off, session(1, SessionState::kOpenSent, "Received: Administrative shutdown"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].fault, MeshFault::kDisabled);
  EXPECT_EQ(problems[0].severity, Severity::kWarning);
}

TEST(BgpMesh, APeerThatIsMissingAtOneEnd) {
  std::vector<MeshView> views = healthy();
  views[1].facts->sessions.erase(views[1].facts->sessions.begin());
  views[0].facts->sessions[0].state = SessionState::kActive;
  const Mesh mesh = assess_mesh(views, {});
  ASSERT_EQ(mesh.problems.size(), 1U);
  EXPECT_EQ(mesh.problems[0].fault, MeshFault::kMissingPeer);
  EXPECT_EQ(mesh.problems[0].from, "node-2");
  EXPECT_EQ(mesh.problems[0].to, "node-1");
  EXPECT_EQ(mesh.cells[1][0], MeshCell::kAbsent);
}

TEST(BgpMesh, APairWithoutASessionMattersInAFullMeshOnly) {
  const std::vector<MeshView> apart = {view(1, {}), view(2, {})};
  EXPECT_EQ(assess_mesh(apart, {}).outcome, Outcome::kWarn);
  EXPECT_EQ(assess_mesh(apart, {.full = false}).outcome, Outcome::kOk);
}

TEST(BgpMesh, EveryCellHasAWord) {
  std::vector<std::string_view> words;
  for (const MeshCell cell : {MeshCell::kSelf, MeshCell::kUp, MeshCell::kDown, MeshCell::kDisabled,
                              MeshCell::kAbsent, MeshCell::kBlind})
    words.push_back(to_string(cell));
  EXPECT_EQ(words,
            (std::vector<std::string_view>{"self", "up", "down", "disabled", "absent", "blind"}));
}

TEST(BgpMesh, ADaemonThatIsDownIsToldOnceAndItsSessionsAreNot) {
  std::vector<MeshView> views = healthy();
  views[2].facts.reset();
  views[2].addresses = {address_of(3)};
  views[2].reason = {ReasonCode::kHung, "no greeting: timed out"};
  for (int node : {0, 1}) views[node].facts->sessions[1].state = SessionState::kConnect;
  const Mesh mesh = assess_mesh(views, {});
  ASSERT_EQ(mesh.problems.size(), 1U);
  EXPECT_EQ(mesh.problems[0].fault, MeshFault::kDaemonDown);
  EXPECT_EQ(mesh.problems[0].suppressed, 2U);
  EXPECT_EQ(mesh.outcome, Outcome::kFail);
  EXPECT_EQ(mesh.cells[2][0], MeshCell::kBlind);
}

TEST(BgpMesh, WhereAllDaemonsAreDownItFailsAndWhereOneMayLiveItIsUnknown) {
  std::vector<MeshView> views = healthy();
  for (MeshView& one : views) one.facts.reset();
  EXPECT_EQ(assess_mesh(views, {}).outcome, Outcome::kFail);
  views[1].unsure = true;
  EXPECT_EQ(assess_mesh(views, {}).outcome, Outcome::kUnknown);
}

TEST(BgpMesh, OneThatCannotBeAskedIsNeitherDownNorGood) {
  std::vector<MeshView> views = healthy();
  views[2].facts.reset();
  views[2].unsure = true;
  views[2].addresses = {address_of(3)};
  const Mesh mesh = assess_mesh(views, {});
  EXPECT_TRUE(mesh.problems.empty());
  EXPECT_EQ(mesh.outcome, Outcome::kUnknown);
}

TEST(BgpMesh, TheOrderOfTheNodesDoesNotMatter) {
  std::vector<MeshView> views = healthy();
  views[0].facts->sessions[0] = session(2, SessionState::kConnect);
  views[1].facts->sessions[0] = session(1, SessionState::kConnect);
  const Mesh mesh = assess_mesh(views, {});
  std::ranges::reverse(views);
  const Mesh reversed = assess_mesh(views, {});
  EXPECT_EQ(mesh.outcome, reversed.outcome);
  ASSERT_EQ(mesh.problems.size(), reversed.problems.size());
  EXPECT_EQ(mesh.problems[0].fault, reversed.problems[0].fault);
}

}  // namespace
}  // namespace wardmote::judge::bgp
