#include "judge/bgp/mesh_assessment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/mesh.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {
namespace {

using namespace std::chrono_literals;

/// Three nodes that are looked at once a second, all at once.
class MeshOfThree {
 public:
  MeshOfThree() {
    for (int node = 1; node <= 3; ++node) {
      MeshView view;
      view.name = fmt::format("bird-{}", node);
      view.facts.emplace();
      view.facts->router_id = fmt::format("10.0.0.{}", node);
      for (int to = 1; to <= 3; ++to) {
        if (to == node) continue;
        Session session;
        session.name = fmt::format("Mesh_10_0_0_{}", to);
        session.address = fmt::format("10.0.0.{}", to);
        session.state = SessionState::kEstablished;
        session.remote_as = session.local_as = 64512;
        session.in_state = 1h;
        view.facts->sessions.push_back(std::move(session));
      }
      views.push_back(std::move(view));
    }
  }

  /// What `node` says of its session with `to`.
  Session& end(int node, int to) {
    return views[node - 1].facts->sessions[to - (to > node ? 2 : 1)];
  }

  void silence(int node, ReasonCode why, bool unsure) {
    MeshView& view = views[node - 1];
    if (view.facts) view.addresses = addresses_told(*view.facts);
    view.facts.reset();
    view.reason = {why, "no greeting"};
    view.unsure = unsure;
  }

  MeshAssessment look() {
    now += 1s;
    for (MeshView& view : views) view.begun = now;
    return judge_mesh(views, {}, memory, now);
  }
  MeshAssessment look_for(Duration time) {
    MeshAssessment last = look();
    for (const TimePoint end = now + time; now < end;) last = look();
    return last;
  }

  std::vector<MeshView> views;
  ConditionTracker memory;
  TimePoint now = TimePoint{} + 1h;
};

std::vector<Code> codes(const MeshAssessment& assessment) {
  std::vector<Code> found;
  for (const Finding& finding : assessment.findings) found.push_back(finding.code);
  return found;
}

TEST(MeshAssessment, AWholeMeshIsOkAndSaysNothing) {
  MeshOfThree mesh;
  const MeshAssessment seen = mesh.look_for(1min);
  EXPECT_EQ(seen.outcome, Outcome::kOk);
  EXPECT_TRUE(seen.findings.empty());
  EXPECT_TRUE(seen.observed.empty());
}

TEST(MeshAssessment, AFaultIsAFindingOnceItHasStoodForItsWindow) {
  MeshOfThree mesh;
  mesh.look();
  for (Session* session : {&mesh.end(1, 2), &mesh.end(2, 1)}) {
    session->state = SessionState::kConnect;
    session->in_state.reset();
  }
  MeshAssessment seen = mesh.look();
  EXPECT_EQ(seen.outcome, Outcome::kOk) << "one look is no finding";
  ASSERT_EQ(seen.observed.size(), 1U);
  EXPECT_EQ(seen.observed[0].code, Code::kBgpPasswordMismatch);
  seen = mesh.look_for(9s);
  ASSERT_EQ(codes(seen), std::vector{Code::kBgpPasswordMismatch});
  EXPECT_EQ(seen.findings[0].subjects, std::vector<std::string>{"bird-1/bird-2"});
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  mesh.end(1, 2).state = mesh.end(2, 1).state = SessionState::kEstablished;
  seen = mesh.look();
  EXPECT_TRUE(seen.findings.empty());
  EXPECT_EQ(seen.outcome, Outcome::kOk);
}

TEST(MeshAssessment, WhatTheEndsSayOfItsAgeCounts) {
  MeshOfThree mesh;
  mesh.end(1, 2).state = mesh.end(2, 1).state = SessionState::kActive;
  mesh.end(1, 2).last_error = "Socket: Connection refused";
  mesh.end(1, 2).in_state = mesh.end(2, 1).in_state = 5min;
  EXPECT_TRUE(mesh.look().findings.empty()) << "one look is no finding, however old it says it is";
  EXPECT_EQ(codes(mesh.look()), std::vector{Code::kBgpRefused});
}

TEST(MeshAssessment, TheSameOldLookIsNotSeenTwice) {
  MeshOfThree mesh;
  mesh.end(1, 2).state = mesh.end(2, 1).state = SessionState::kActive;
  const MeshAssessment first = mesh.look();
  ASSERT_EQ(first.observed.size(), 1U);
  const TimePoint later = mesh.now + 1min;
  EXPECT_TRUE(judge_mesh(mesh.views, {}, mesh.memory, later).findings.empty());
}

TEST(MeshAssessment, EveryFaultHasACodeOfItsOwn) {
  struct Case {
    Session one;
    Session other;
    Code code;
  };
  const auto session = [](SessionState state, std::string error = {}) {
    Session made = MeshOfThree().end(1, 2);
    made.state = state;
    made.last_error = std::move(error);
    return made;
  };
  Session disabled = session(SessionState::kDown);
  disabled.admin_down = true;
  Session other_as = session(SessionState::kIdle);
  other_as.remote_as = 64999;
  using enum SessionState;
  const std::vector<Case> cases = {
      {session(kEstablished), session(kActive), Code::kBgpAsymmetric},
      {other_as, session(kIdle), Code::kBgpWrongAs},
      {session(kIdle, "BGP Error: Bad peer AS"), session(kIdle), Code::kBgpWrongAs},
      {disabled, session(kPassive), Code::kBgpDisabled},
      {session(kActive, "Socket: Connection refused"), session(kPassive), Code::kBgpRefused},
      {session(kActive, "Socket: No route to host"), session(kPassive), Code::kBgpUnreachable},
      {session(kConnect), session(kActive), Code::kBgpPasswordMismatch},
      {session(kConnect), session(kPassive), Code::kBgpNoAnswer},
      {session(kIdle, "BGP Error: Hold timer expired"), session(kIdle), Code::kBgpSessionDown},
  };
  for (const Case& one : cases) {
    MeshOfThree mesh;
    const auto put = [&](int node, int to, const Session& said) {
      Session& end = mesh.end(node, to);
      const std::string address = end.address;
      end = said;
      end.address = address;
    };
    put(1, 2, one.one);
    put(2, 1, one.other);
    EXPECT_EQ(codes(mesh.look_for(15s)), std::vector{one.code}) << to_string(one.code);
  }
  MeshOfThree mesh;
  mesh.views[0].facts->sessions.erase(mesh.views[0].facts->sessions.begin());
  EXPECT_EQ(codes(mesh.look_for(15s)), std::vector{Code::kBgpMissingPeer});
}

TEST(MeshAssessment, ADaemonThatIsDownIsToldOnceAndNotByItsSessions) {
  MeshOfThree mesh;
  mesh.look();
  mesh.silence(1, ReasonCode::kHung, false);
  for (const int node : {2, 3}) {
    mesh.end(node, 1).state = SessionState::kConnect;
    mesh.end(node, 1).in_state = 1s;
  }
  const MeshAssessment seen = mesh.look_for(30s);
  ASSERT_EQ(codes(seen), std::vector{Code::kBgpDaemonDown});
  EXPECT_EQ(seen.findings[0].subjects, std::vector<std::string>{"bird-1"});
  EXPECT_EQ(seen.findings[0].severity, Severity::kCritical);
  EXPECT_NE(seen.findings[0].summary.find("2 sessions"), std::string::npos);
}

TEST(MeshAssessment, ADaemonOfWhichNothingIsKnownEndsAndBeginsNothing) {
  MeshOfThree mesh;
  mesh.end(1, 2).state = mesh.end(2, 1).state = SessionState::kActive;
  ASSERT_EQ(codes(mesh.look_for(15s)), std::vector{Code::kBgpPasswordMismatch});
  mesh.silence(1, ReasonCode::kProberStarved, true);
  MeshAssessment seen = mesh.look_for(30s);
  EXPECT_EQ(codes(seen), std::vector{Code::kBgpPasswordMismatch}) << "it stays, and is not news";
  EXPECT_EQ(seen.outcome, Outcome::kFail);

  MeshOfThree whole;
  whole.look();
  whole.silence(1, ReasonCode::kProberStarved, true);
  seen = whole.look_for(30s);
  EXPECT_TRUE(seen.findings.empty());
  EXPECT_EQ(seen.outcome, Outcome::kUnknown) << "two of three are no whole mesh";
}

TEST(MeshAssessment, NobodyAnsweringIsUnknown) {
  MeshOfThree mesh;
  for (const int node : {1, 2, 3}) mesh.silence(node, ReasonCode::kNotProbed, true);
  const MeshAssessment seen = mesh.look_for(30s);
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_TRUE(seen.findings.empty());
}

// They refuse, which is known, and worse than one that does.
TEST(MeshAssessment, AMeshOfWhichEveryDaemonIsDeadFails) {
  MeshOfThree mesh;
  mesh.look();
  for (const int node : {1, 2, 3}) mesh.silence(node, ReasonCode::kRefused, false);
  const MeshAssessment seen = mesh.look_for(30s);
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(codes(seen), std::vector(3, Code::kBgpDaemonDown));
  for (const Finding& finding : seen.findings) EXPECT_EQ(finding.severity, Severity::kCritical);
}

}  // namespace
}  // namespace wardmote::judge::bgp
