#include "agent/board.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using judge::Outcome;
using judge::ReasonCode;
using judge::raft::Assessment;
using judge::raft::Opinion;
using judge::raft::Verdict;

constexpr TimePoint kStart{1000s};
constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

/// Keeps every event as `name key=value …`.
class Events {
 public:
  Events() { set_log_sink(std::make_unique<Sink>(lines_)); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() { set_log_sink(nullptr); }

  [[nodiscard]] long count(std::string_view beginning) const {
    return std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.starts_with(beginning); });
  }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  struct Sink final : LogSink {
    explicit Sink(std::vector<std::string>& into) : lines(into) {}
    void write(LogLevel, std::string_view event, std::initializer_list<LogField> fields) override {
      std::string line(event);
      for (const LogField& field : fields) line += " " + std::string(field.key) + "=" + field.value;
      lines.push_back(line);
    }
    std::vector<std::string>& lines;
  };

  std::vector<std::string> lines_;
};

config::Config sample_config() {
  config::Config config;
  config::Cluster cluster;
  cluster.name = "nb";
  cluster.expectation.database = "OVN_Northbound";
  cluster.members = {{"a", {}, {}}, {"b", {}, {}}};
  cluster.schedule = {1s, 900ms, {.fall = 1, .rise = 1}, false};
  config.clusters.push_back(cluster);
  config.checks.push_back({"c", {}, &kFakeKind, {}, {1s, 900ms, {.fall = 2, .rise = 1}, true}, {}});
  config.gates = {{"ready", {"nb", "c"}}, {"net", {"c"}}};
  return config;
}

class BoardTest : public testing::Test {
 protected:
  void look_at_check(Outcome outcome) {
    now_ += 1s;
    board_.check_observed(
        0, {"c", outcome, {ReasonCode::kRefused, "nobody listens"}, {}, now_, now_, {}}, now_);
  }

  static std::vector<Opinion> opinions(std::string_view leader = "77f0", std::uint64_t term = 1) {
    std::vector<Opinion> opinions(2);
    for (std::size_t i = 0; i < 2; ++i) {
      opinions[i].member = i == 0 ? "a" : "b";
      opinions[i].status_source.reason = {};
      opinions[i].local_source.reason = {};
      opinions[i].status.emplace();
      opinions[i].status->term = term;
      opinions[i].status->server_id = *judge::raft::parse_member_id(i == 0 ? leader : "b8af");
    }
    return opinions;
  }

  static Assessment verdict(Verdict verdict) {
    Assessment assessment;
    assessment.verdict = verdict;
    assessment.members.assign(2, {Outcome::kOk, {}});
    assessment.leader = 0;
    return assessment;
  }

  static Assessment critical() {
    Assessment assessment = verdict(Verdict::kCritical);
    judge::Finding finding;
    finding.code = judge::Code::kRaftMemberHung;
    finding.severity = judge::Severity::kCritical;
    finding.subjects = {"b"};
    finding.summary = "b is hung";
    assessment.findings.push_back(finding);
    return assessment;
  }

  void judge_cluster(Assessment assessment, bool final_of_round = true) {
    now_ += 1s;
    board_.cluster_judged(0, opinions(), std::move(assessment), now_, final_of_round);
  }

  const serve::AgentView& view() { return board_.view(now_, WallTime(now_.time_since_epoch())); }
  const serve::CheckView& check(std::string_view name) {
    return *std::ranges::find(view().checks, name, &serve::CheckView::name);
  }
  const serve::GateView& gate(std::string_view name) {
    return *std::ranges::find(view().gates, name, &serve::GateView::name);
  }
  std::vector<std::string> failing(std::string_view name) {
    return serve::names_of(view().checks, gate(name).failing);
  }

  Events events_;
  TimePoint now_ = kStart;
  ChangeFeed feed_{[this] { return WallTime(now_.time_since_epoch()); }};
  Board board_{sample_config(), "ctl-1", feed_, kStart};
};

TEST_F(BoardTest, AGateMayWantEnoughOfSeveral) {
  config::Config config;
  for (const std::string name : {"a", "b", "c"})
    config.checks.push_back(
        {name, {}, &kFakeKind, {}, {1s, 900ms, {.fall = 1, .rise = 1}, true}, {}});
  config.gates = {{"ready", {}, config::Gate::AtLeast{2, {{"a", 1}, {"b", 1}, {"c", 1}}}}};
  Board board(config, "ctl-1", feed_, kStart);
  const auto look = [&](std::size_t check, Outcome outcome) {
    now_ += 1s;
    board.check_observed(check, {"x", outcome, {}, {}, now_, now_, {}}, now_);
    return board.view(now_, {}).gates[0];
  };
  EXPECT_FALSE(board.view(now_, {}).gates[0].ready) << "optional, but nobody has seen them";
  EXPECT_FALSE(look(0, Outcome::kOk).ready);
  EXPECT_EQ(look(0, Outcome::kOk).failing, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(look(2, Outcome::kOk).ready);
  EXPECT_TRUE(look(1, Outcome::kOk).ready);
  EXPECT_TRUE(look(0, Outcome::kFail).ready) << "two of three";
  EXPECT_TRUE(board.view(now_, {}).gates[0].failing.empty()) << "so nobody holds it back";
  EXPECT_FALSE(look(1, Outcome::kFail).ready);
  EXPECT_TRUE(look(0, Outcome::kOk).ready);
}

TEST_F(BoardTest, AGateShowsEachOfItsChecksOnce) {
  config::Config config;
  for (const std::string name : {"a", "b", "c"})
    config.checks.push_back({name, {}, &kFakeKind, {}, {1s, 900ms, {.fall = 1}, false}, {}});
  config.gates = {{"ready", {"c", "a"}, config::Gate::AtLeast{1, {{"a", 1}, {"b", 1}}}}};
  Board board(config, "ctl-1", feed_, kStart);
  const serve::AgentView& seen = board.view(now_, {});
  EXPECT_EQ(serve::names_of(seen.checks, seen.gates[0].checks),
            (std::vector<std::string>{"c", "a", "b"}));
}

TEST_F(BoardTest, IsNotReadyBeforeAnythingWasSeen) {
  EXPECT_FALSE(gate("ready").ready);
  EXPECT_EQ(failing("ready"), std::vector<std::string>{"nb"}) << "c is optional";
  EXPECT_TRUE(gate("net").ready);
  EXPECT_EQ(view().clusters[0].opinions.size(), 2U)
      << "the members are shown before they were looked at";
}

TEST_F(BoardTest, AGoodVerdictOpensTheGateAndACriticalOneClosesIt) {
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_TRUE(gate("ready").ready);
  EXPECT_EQ(events_.count("gate_opened gate=ready"), 1);
  judge_cluster(critical());
  EXPECT_FALSE(gate("ready").ready);
  EXPECT_EQ(check("nb").state.state, judge::State::kReported);
  EXPECT_EQ(check("nb").reason.text, "RAFT_MEMBER_HUNG: b is hung");
  EXPECT_EQ(events_.count("gate_closed gate=ready failing=nb"), 1);
}

TEST_F(BoardTest, AWarningDegradesAndKeepsTheGateOpen) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(verdict(Verdict::kWarning));
  EXPECT_TRUE(check("nb").state.degraded);
  EXPECT_TRUE(gate("ready").ready);
}

TEST_F(BoardTest, FeedsTheClustersCheckOnceARound) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(critical(), false);
  EXPECT_EQ(check("nb").state.state, judge::State::kHealthy);
  EXPECT_EQ(view().clusters[0].assessment.verdict, Verdict::kCritical) << "shown at once";
  judge_cluster(critical(), true);
  EXPECT_EQ(check("nb").state.state, judge::State::kReported);
  EXPECT_EQ(check("nb").looks, 2U);
}

TEST_F(BoardTest, LogsEachChangeOnce) {
  judge_cluster(verdict(Verdict::kOk));
  judge_cluster(verdict(Verdict::kOk));
  const std::size_t before = events_.size();
  judge_cluster(critical());
  judge_cluster(critical());
  EXPECT_EQ(
      events_.count("finding_raised cluster=nb code=RAFT_MEMBER_HUNG severity=critical subjects=b"),
      1);
  EXPECT_EQ(events_.count("cluster_verdict cluster=nb from=ok to=critical"), 1);
  EXPECT_EQ(events_.count("check_changed check=nb from=healthy to=reported"), 1);
  EXPECT_EQ(events_.size(), before + 4) << "and the gate";
  judge_cluster(verdict(Verdict::kOk));
  EXPECT_EQ(events_.count("finding_cleared cluster=nb code=RAFT_MEMBER_HUNG"), 1);
}

TEST_F(BoardTest, AFindingWhoseSubjectLearnsANameIsTheSameFinding) {
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

TEST_F(BoardTest, CountsLeadersAndTerms) {
  const auto judged = [&](std::string_view leader, std::uint64_t term) {
    board_.cluster_judged(0, opinions(leader, term), verdict(Verdict::kOk), now_, true);
  };
  judged("77f0", 5);
  EXPECT_EQ(view().clusters[0].counters.elections, 0U) << "the first term is where we came in";
  judged("77f0", 7);
  judged("dea6", 7);
  EXPECT_EQ(view().clusters[0].counters.elections, 2U);
  EXPECT_EQ(view().clusters[0].counters.leader_transitions, 1U);
  Assessment leaderless = verdict(Verdict::kCritical);
  leaderless.leader.reset();
  board_.cluster_judged(0, opinions("dea6", 8), leaderless, now_, true);
  judged("dea6", 9);
  EXPECT_EQ(view().clusters[0].counters.leader_transitions, 1U) << "the same server leads again";
}

TEST_F(BoardTest, CountsLooksAndTheirErrors) {
  Opinion seen;
  seen.begun = now_;
  seen.ended = now_ + 3ms;
  seen.status_source.reason = {ReasonCode::kHung, ""};
  board_.member_observed(0, 1, seen);
  const serve::MemberCounters& counters = view().clusters[0].counters.members[1];
  EXPECT_EQ(counters.errors.at(ReasonCode::kHung), 1U);
  EXPECT_EQ(counters.errors.size(), 1U) << "what is not configured is no error";
  EXPECT_EQ(counters.looks.sum, 3ms);
}

TEST_F(BoardTest, DampsAPlainCheckByItsPolicy) {
  look_at_check(Outcome::kOk);
  look_at_check(Outcome::kFail);
  EXPECT_TRUE(gate("net").ready);
  look_at_check(Outcome::kFail);
  EXPECT_FALSE(gate("net").ready);
  EXPECT_EQ(check("c").reason.code, ReasonCode::kRefused);
  EXPECT_EQ(check("c").looks, 3U);
}

TEST_F(BoardTest, TellsListenersWhatItLogsWithTheFindingWhole) {
  std::vector<judge::Change> told;
  feed_.listen([&](const judge::Change& change) {
    told.push_back(change);
    EXPECT_EQ(view().clusters[0].assessment.verdict, Verdict::kCritical) << "already shown";
  });
  judge_cluster(critical());
  std::vector<std::string> kinds;
  for (const judge::Change& change : told) kinds.push_back(change.scope + " " + change.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"cluster member_changed", "cluster member_changed",
                                             "cluster finding_raised", "cluster cluster_verdict"}));
  EXPECT_EQ(told[2].finding, critical().findings[0]);
  EXPECT_NE(told[2].data.find(R"("subjects":["b"],"summary":"b is hung","evidence":[])"),
            std::string::npos)
      << told[2].data;
}

TEST_F(BoardTest, TellsOfItsOwnSicknessOnce) {
  board_.heart_beat(1ms, std::nullopt);
  board_.heart_beat(2s, "prober starved");
  board_.heart_beat(1ms, "prober starved");
  EXPECT_EQ(view().self.worst_lateness, 2s);
  EXPECT_EQ(view().self.lateness, 1ms);
  EXPECT_EQ(events_.count("agent_degraded"), 1);
  board_.heart_beat(1ms, std::nullopt);
  EXPECT_EQ(events_.count("agent_recovered"), 1);
}

}  // namespace
}  // namespace wardmote::agent
