#include "unit/agent/board_fixture.h"

#include <string>
#include <vector>

namespace wardmote::agent {
namespace {

using namespace on_board;

using ClusterBoardTest = BoardTest;

TEST_F(ClusterBoardTest, IsNotReadyBeforeAnythingWasSeen) {
  EXPECT_FALSE(gate("ready").ready);
  EXPECT_EQ(failing("ready"), std::vector<std::string>{"nb"}) << "c is optional";
  EXPECT_TRUE(gate("net").ready);
  EXPECT_EQ(shown().opinions.size(), 2U) << "the members are shown before they were looked at";
}

TEST_F(ClusterBoardTest, IsNotCalledHealthyBeforeEveryMemberWasAskedOnce) {
  judge_cluster(verdict(Verdict::kOk), false);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kUnknown) << "who is still silent may have failed";
  EXPECT_EQ(events_.count("cluster_verdict"), 0);
  judge_cluster(verdict(Verdict::kWarning), false);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kWarning) << "what is wrong is certain";
  judge_cluster(verdict(Verdict::kOk), true);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kOk);
  judge_cluster(verdict(Verdict::kOk), false);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kOk);
}

TEST_F(ClusterBoardTest, AGoodVerdictOpensTheGateAndACriticalOneClosesIt) {
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_TRUE(gate("ready").ready);
  EXPECT_EQ(events_.count("gate_opened gate=ready"), 1);
  judge_cluster(critical());
  EXPECT_FALSE(gate("ready").ready);
  EXPECT_EQ(check("nb").state.state, judge::State::kReported);
  EXPECT_EQ(check("nb").reason.text, "RAFT_MEMBER_HUNG: b is hung");
  EXPECT_EQ(events_.count("gate_closed gate=ready failing=nb"), 1);
}

TEST_F(ClusterBoardTest, AWarningDegradesAndKeepsTheGateOpen) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(verdict(Verdict::kWarning));
  EXPECT_TRUE(check("nb").state.degraded);
  EXPECT_TRUE(gate("ready").ready);
}

TEST_F(ClusterBoardTest, AClusterIsCalledNoBetterThanWhatIsHeldOfIt) {
  held_ =
      incidents::HeldVerdict{Verdict::kCritical, {ReasonCode::kState, "RAFT_NO_QUORUM: no quorum"}};
  clusters_.reload(sample_config(), config::plan_reload(sample_config(), sample_config()), kStart);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical) << "before the first look";
  for (const Verdict seen : {Verdict::kOk, Verdict::kUnknown, Verdict::kWarning}) {
    std::vector<Opinion> half = opinions();
    half[1].status_source.reason = {ReasonCode::kRefused, "nobody listens"};
    half[1].status.reset();
    now_ += 1s;
    clusters_.cluster_judged(0, half, verdict(seen), now_, true);
    EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical);
    EXPECT_EQ(check("nb").state.state, judge::State::kReported);
    EXPECT_EQ(check("nb").reason.text, "RAFT_NO_QUORUM: no quorum");
    EXPECT_FALSE(gate("ready").ready);
  }
  Assessment within_window = verdict(Verdict::kOk);
  within_window.observed.push_back({judge::Code::kRaftNoQuorum, "", now_, now_ + 10s});
  for (int i = 0; i < 5; ++i) judge_cluster(within_window);
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_EQ(well_, 0);
  EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical);
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_EQ(well_, 1) << "all answer, three times, and nothing is seen";
  EXPECT_EQ(shown().assessment.verdict, Verdict::kOk);
  EXPECT_TRUE(gate("ready").ready);
}

TEST_F(ClusterBoardTest, AFindingIsTheReasonAlsoWhileSomethingIsHeld) {
  held_ =
      incidents::HeldVerdict{Verdict::kWarning, {ReasonCode::kState, "RAFT_QUORUM_MARGIN: one"}};
  let_go_ = false;
  judge_cluster(critical());
  EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical);
  EXPECT_EQ(check("nb").reason.text, "RAFT_MEMBER_HUNG: b is hung");
}

TEST_F(ClusterBoardTest, FeedsTheClustersCheckOnceARound) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(critical(), false);
  EXPECT_EQ(check("nb").state.state, judge::State::kReported) << "bad news at once";
  EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical);
  judge_cluster(critical(), false);
  judge_cluster(verdict(Verdict::kOk), false);
  EXPECT_EQ(check("nb").state.state, judge::State::kReported) << "not everybody has answered";
  judge_cluster(critical(), true);
  EXPECT_EQ(check("nb").looks, 2U);
  judge_cluster(verdict(Verdict::kOk), false);
  EXPECT_EQ(check("nb").looks, 2U);
  judge_cluster(critical(), false);
  judge_cluster(verdict(Verdict::kOk), true);
  EXPECT_EQ(check("nb").looks, 4U);
  EXPECT_EQ(check("nb").state.state, judge::State::kHealthy);
}

TEST_F(ClusterBoardTest, LogsEachChangeOnce) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(verdict(Verdict::kOk));
  const std::size_t before = events_.lines().size();
  judge_cluster(critical());
  judge_cluster(critical());
  EXPECT_EQ(
      events_.count("finding_raised cluster=nb code=RAFT_MEMBER_HUNG severity=critical subjects=b"),
      1);
  EXPECT_EQ(events_.count("cluster_verdict cluster=nb from=ok to=critical"), 1);
  EXPECT_EQ(events_.count("check_changed check=nb from=healthy to=reported"), 1);
  EXPECT_EQ(events_.lines().size(), before + 4) << "and the gate";
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_EQ(events_.count("finding_cleared cluster=nb code=RAFT_MEMBER_HUNG"), 1);
}

TEST_F(ClusterBoardTest, AFindingWhoseSubjectLearnsANameIsTheSameFinding) {
  judge_cluster(critical());
  Assessment named = critical();
  named.findings[0].subjects = {"b", "b8af", "tcp:10.0.0.2:6643"};
  judge_cluster(named);
  EXPECT_EQ(events_.count("finding_raised"), 1);
  EXPECT_EQ(events_.count("finding_cleared"), 0);
  named.findings[0].severity = judge::Severity::kWarning;
  judge_cluster(named);
  EXPECT_EQ(events_.count("finding_changed"), 1);
}

TEST_F(ClusterBoardTest, CountsLeadersAndTerms) {
  const auto judged = [&](std::string_view leader, std::uint64_t term) {
    clusters_.cluster_judged(0, opinions(leader, term), verdict(Verdict::kOk), now_, true);
  };
  judged("77f0", 5);
  EXPECT_EQ(shown().counters.elections, 0U) << "the first term is where we came in";
  judged("77f0", 7);
  judged("dea6", 7);
  EXPECT_EQ(shown().counters.elections, 2U);
  EXPECT_EQ(shown().counters.leader_transitions, 1U);
  Assessment leaderless = verdict(Verdict::kCritical);
  leaderless.leader.reset();
  clusters_.cluster_judged(0, opinions("dea6", 8), leaderless, now_, true);
  judged("dea6", 9);
  EXPECT_EQ(shown().counters.leader_transitions, 1U) << "the same server leads again";
}

TEST_F(ClusterBoardTest, CountsLooksAndTheirErrors) {
  Opinion seen;
  seen.begun = now_;
  seen.ended = now_ + 3ms;
  seen.status_source.reason = {ReasonCode::kHung, ""};
  clusters_.member_observed(0, 1, seen);
  judge_cluster(verdict(Verdict::kOk));
  const serve::MemberCounters& counters = shown().counters.members[1];
  EXPECT_EQ(counters.errors.at(ReasonCode::kHung), 1U);
  EXPECT_EQ(counters.errors.size(), 1U) << "what is not configured is no error";
  EXPECT_EQ(counters.looks.sum, 3ms);
}

TEST_F(ClusterBoardTest, TellsListenersWhatItLogsWithTheFindingWhole) {
  std::vector<judge::Change> told;
  std::vector<std::string> kinds;
  std::string data;
  feed_.listen([&](const judge::Change& change, const serve::ChangeText& text) {
    told.push_back(change);
    kinds.push_back(std::string(to_string(change.of.kind)) + " " + text.kind);
    if (text.kind == "finding_raised") data = text.data;
    EXPECT_EQ(shown().assessment.verdict, Verdict::kCritical) << "already shown";
  });
  judge_cluster(critical());
  EXPECT_EQ(kinds, (std::vector<std::string>{"gate gate_opened", "cluster finding_raised",
                                             "cluster member_changed", "cluster member_changed",
                                             "cluster cluster_verdict", "check check_changed"}))
      << "what was told before anybody listened, and its check, which fails for the first time";
  EXPECT_EQ(std::get<judge::FindingChanged>(told[1].event).finding, critical().findings[0]);
  EXPECT_TRUE(data.contains(R"("subjects":["b"],"summary":"b is hung","evidence":[])")) << data;
}

}  // namespace
}  // namespace wardmote::agent
