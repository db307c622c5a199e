// Which changes are told, from one judgement to the next.

#include "incidents/changes.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "incidents/change_feed.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "serve/change_text.h"
#include "serve/raft/cluster_view.h"
#include "serve/view.h"
#include "support/logged.h"

namespace wardmote::agent {
namespace {

using judge::Code;
using judge::Finding;
using judge::Severity;
using namespace std::chrono_literals;
using Told = std::vector<std::string>;

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() {
    feed.listen([this](const judge::Change& change, const serve::ChangeText& text) {
      told.push_back(text.kind + " " + change.of.name);
      last = change;
    });
  }
  static Finding finding(Code code, std::vector<std::string> subjects,
                         Severity severity = Severity::kWarning) {
    Finding one;
    one.code = code;
    one.severity = severity;
    one.subjects = std::move(subjects);
    return one;
  }
  /// What is told from one judgement of the cluster to the next: kind, code and first subject.
  Told between(std::vector<Finding> before, std::vector<Finding> after) {
    serve::ClusterView cluster("nb");
    cluster.opinions.emplace_back().member = "a";
    cluster.assessment.findings = std::move(after);
    Told all;
    incidents::ChangeFeed to([] { return WallTime(); });
    to.listen([&](const judge::Change& change, const serve::ChangeText& text) {
      const auto& changed = std::get<judge::FindingChanged>(change.event);
      EXPECT_EQ(change.of, cluster.id);
      EXPECT_EQ(changed.now, kNow);
      EXPECT_EQ(changed.owner, "cluster:nb");
      EXPECT_EQ(changed.component, cluster.component_of(changed.finding));
      const auto& names = changed.finding.subjects;
      all.push_back(text.kind + " " + std::string(to_string(changed.finding.code)) +
                    (names.empty() ? "" : " " + names.front()));
    });
    to.listen_restated([this](const judge::Change& change) {
      restated.push_back(std::get<judge::FindingChanged>(change.event).finding.summary);
    });
    incidents::tell_findings(to, cluster, before, true, kNow);
    return all;
  }

  static constexpr TimePoint kNow{1000s};
  testing::Logged logged;
  incidents::ChangeFeed feed{[] { return WallTime(); }};
  Told told;
  Told restated;
  judge::Change last;
};

TEST_F(ChangesTest, AFindingIsToldWhenItBeginsWhenItsSeverityChangesAndWhenItEnds) {
  const Finding down = finding(Code::kRaftMemberDown, {"a"});
  Finding worse = down;
  worse.severity = Severity::kCritical;
  EXPECT_EQ(between({}, {down}), Told{"finding_raised RAFT_MEMBER_DOWN a"});
  EXPECT_EQ(between({down}, {down}), Told{});
  EXPECT_EQ(between({down}, {worse}), Told{"finding_changed RAFT_MEMBER_DOWN a"});
  EXPECT_EQ(between({worse}, {}), Told{"finding_cleared RAFT_MEMBER_DOWN a"});
}

// Incidents and messages went on with the words of the beginning.
TEST_F(ChangesTest, AFindingIsToldWhenItSaysSomethingElse) {
  Finding two = finding(Code::kRaftStaleMember, {"a"});
  two.summary = "two of them live, heard 17 ms ago";
  Finding later = two;
  later.summary = "two of them live, heard 1741 ms ago";
  Finding one = two;
  one.summary = "one of them lives";
  EXPECT_EQ(between({two}, {later}), Told{});
  EXPECT_EQ(restated, Told{later.summary}) << "it is said all the same";
  EXPECT_EQ(between({later}, {one}), Told{"finding_changed RAFT_STALE_MEMBER a"});
}

TEST_F(ChangesTest, WhatIsTheSameHidesNothingThatComesAfterIt) {
  const Finding a = finding(Code::kRaftMemberDown, {"a"});
  const Finding b = finding(Code::kRaftMemberDown, {"b"});
  const Finding c = finding(Code::kRaftMemberHung, {"b"});
  EXPECT_EQ(between({a}, {a, b, c}),
            (Told{"finding_raised RAFT_MEMBER_DOWN b", "finding_raised RAFT_MEMBER_HUNG b"}));
  EXPECT_EQ(between({a, b, c}, {b}),
            (Told{"finding_cleared RAFT_MEMBER_DOWN a", "finding_cleared RAFT_MEMBER_HUNG b"}));
}

// A member is first known by its id, and then by its name too.
TEST_F(ChangesTest, AThingThatGetsAnotherNameIsStillTheSame) {
  const Finding by_id = finding(Code::kRaftMemberDown, {"5b4b"});
  const Finding by_both = finding(Code::kRaftMemberDown, {"a", "5b4b"});
  EXPECT_EQ(between({by_id}, {by_both}), Told{});
  EXPECT_EQ(between({by_both}, {by_id}), Told{});
}

TEST_F(ChangesTest, WhatIsWrongWithTheWholeIsNotWhatIsWrongWithAPart) {
  const Finding whole = finding(Code::kRaftMemberDown, {});
  const Finding part = finding(Code::kRaftMemberDown, {"a"});
  EXPECT_EQ(between({whole}, {whole}), Told{});
  EXPECT_EQ(between({whole}, {part}),
            (Told{"finding_raised RAFT_MEMBER_DOWN a", "finding_cleared RAFT_MEMBER_DOWN"}));
  EXPECT_EQ(between({part}, {whole}),
            (Told{"finding_raised RAFT_MEMBER_DOWN", "finding_cleared RAFT_MEMBER_DOWN a"}));
}

TEST_F(ChangesTest, ACheckIsToldOfWhenItsStateOrItsBlindnessChanges) {
  using enum judge::State;
  serve::CheckView check;
  check.name = "bird";
  check.optional = true;
  check.reason = {judge::ReasonCode::kRefused, "refused"};
  check.state.state = kReported;
  judge::CheckState before = check.state;
  incidents::tell_check_change(feed, check, before);
  EXPECT_EQ(told, Told{});
  before.state = kError;
  incidents::tell_check_change(feed, check, before);
  EXPECT_EQ(told, Told{"check_changed bird"});
  const auto changed = std::get<judge::CheckChanged>(last.event);
  EXPECT_EQ(changed.from, kError);
  EXPECT_EQ(changed.to, kReported);
  EXPECT_EQ(changed.reason.text, "refused");
  EXPECT_FALSE(changed.counts) << "it is optional and was never good";
  EXPECT_FALSE(changed.seen_good);
  before = check.state;
  check.state.blind = true;
  incidents::tell_check_change(feed, check, before);
  EXPECT_EQ(told.back(), "check_blind bird");
  EXPECT_EQ(std::get<judge::CheckBlind>(last.event).state, kReported);
  before.blind = true;
  check.state.blind = false;
  incidents::tell_check_change(feed, check, before);
  EXPECT_EQ(told.back(), "check_seen_again bird");
  EXPECT_EQ(told.size(), 3U);
}

TEST_F(ChangesTest, AGateSaysWhichChecksCloseIt) {
  std::vector<serve::CheckView> checks(3);
  checks[0].name = "a";
  checks[2].name = "c";
  serve::GateView gate;
  gate.name = "ready";
  gate.failing = {0, 2};
  incidents::tell_gate_change(feed, gate, checks);
  EXPECT_EQ(told, Told{"gate_closed ready"});
  EXPECT_EQ(std::get<judge::GateChanged>(last.event).failing, (Told{"a", "c"}));
}

TEST_F(ChangesTest, TheAgentIsToldOfWhenItGetsSickAndWhenItIsWellAgain) {
  const std::optional<std::string> starved = "prober starved";
  const std::optional<std::string> full = "no descriptors";
  incidents::tell_self_change(feed, "ctl-1", {}, {});
  incidents::tell_self_change(feed, "ctl-1", starved, full);
  EXPECT_EQ(told, Told{});
  incidents::tell_self_change(feed, "ctl-1", {}, starved);
  EXPECT_EQ(std::get<judge::AgentHealth>(last.event).complaint, starved);
  incidents::tell_self_change(feed, "ctl-1", full, {});
  EXPECT_EQ(told, (Told{"agent_degraded ctl-1", "agent_recovered ctl-1"}));
  EXPECT_EQ(logged.count("agent_degraded"), 1) << "each change is a line of the log";
}

}  // namespace
}  // namespace wardmote::agent
