#include "unit/agent/board_fixture.h"

namespace wardmote::agent {
namespace {

using namespace on_board;

// After a restart a reporter is taken for live until its timeout. Nobody has seen that.
TEST_F(BoardTest, WhatIsPresumedGoodHealsNothingThatWasReported) {
  board_.restore_reported("c", {ReasonCode::kState, "reports that it is not live"}, true, now_,
                          now_);
  judge::Observation presumed;
  presumed.outcome = Outcome::kOk;
  presumed.presumed = true;
  board_.check_observed(1, presumed, now_);
  EXPECT_EQ(check("c").state.state, judge::State::kReported);
  presumed.presumed = false;
  board_.check_observed(1, presumed, now_);
  EXPECT_EQ(check("c").state.state, judge::State::kHealthy);
}

// An optional reporter that never reported was taken for one that had been live.
TEST_F(BoardTest, WhatIsPresumedGoodIsNoSignThatSomethingOptionalExists) {
  judge::Observation presumed;
  presumed.outcome = Outcome::kOk;
  presumed.presumed = true;
  for (int look = 0; look < 5; ++look) board_.check_observed(1, presumed, now_ += 1s);
  EXPECT_EQ(check("c").state.state, judge::State::kDiscovery);
  EXPECT_FALSE(check("c").state.seen_good);
  EXPECT_EQ(check("c").reason.text, "nothing was seen of it yet");
  look_at_check(Outcome::kFail);
  look_at_check(Outcome::kFail);
  EXPECT_TRUE(ready(check("c").state, true));
}

/// It was good in an earlier life, and nothing was known of it at the end of that.
TEST_F(BoardTest, AnOptionalCheckThatWasGoodAndBlindClosesItsGateUntilItIsSeen) {
  board_.restore_seen_good("c", false);
  EXPECT_FALSE(check("c").state.blind);
  board_.restore_seen_good("c", true);
  EXPECT_FALSE(ready(check("c").state, true));
  judge::Observation seen;
  seen.outcome = Outcome::kOk;
  board_.check_observed(1, seen, now_);
  EXPECT_TRUE(ready(check("c").state, true));
  board_.restore_seen_good("there is none", true);
}

/// An agent that starts in an outage has confirmed nothing yet.
TEST_F(BoardTest, WhatWasNeverGoodIsNotProvenGoodWhileAFaultShows) {
  const std::vector<judge::Observed> critical{{.code = judge::Code::kRaftNoQuorum}};
  const std::vector<judge::Observed> milder{{.code = judge::Code::kRaftQuorumMargin}};
  const std::vector<judge::Observed> none{{.code = judge::Code::kRaftLogGrowth}};
  const auto doubted = [&](Outcome outcome, const std::vector<judge::Observed>& signs) {
    judge::Observation seen;
    seen.subject = "c";
    seen.outcome = outcome;
    EXPECT_EQ(board_.doubt(seen, signs), seen.outcome != outcome);
    return seen;
  };
  EXPECT_EQ(doubted(Outcome::kWarn, critical).outcome, Outcome::kUnknown);
  EXPECT_EQ(doubted(Outcome::kOk, critical).outcome, Outcome::kUnknown);
  EXPECT_TRUE(doubted(Outcome::kOk, critical).reason.text.contains("RAFT_NO_QUORUM"));
  EXPECT_EQ(doubted(Outcome::kFail, critical).outcome, Outcome::kFail);
  EXPECT_EQ(doubted(Outcome::kUnknown, critical).reason.text, "") << "it has a reason of its own";
  EXPECT_EQ(doubted(Outcome::kOk, milder).outcome, Outcome::kUnknown);
  EXPECT_EQ(doubted(Outcome::kWarn, none).outcome, Outcome::kWarn) << "no fault";
  EXPECT_EQ(doubted(Outcome::kOk, {}).outcome, Outcome::kOk);
  judge::Observation good;
  good.outcome = Outcome::kOk;
  for (int look = 0; look < 5; ++look) board_.check_observed(1, good, now_ += 1s);
  ASSERT_EQ(check("c").state.state, judge::State::kHealthy);
  EXPECT_EQ(doubted(Outcome::kWarn, critical).outcome, Outcome::kWarn)
      << "what was good is told when it is confirmed";
}

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

TEST_F(BoardTest, DampsAPlainCheckByItsPolicy) {
  look_at_check(Outcome::kOk);
  look_at_check(Outcome::kFail);
  EXPECT_TRUE(gate("net").ready);
  look_at_check(Outcome::kFail);
  EXPECT_FALSE(gate("net").ready);
  EXPECT_EQ(check("c").reason.code, ReasonCode::kRefused);
  EXPECT_EQ(check("c").looks, 3U);
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
