#include "judge/bgp/policy.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::judge::bgp {
namespace {

using namespace std::chrono_literals;

Session session(std::string address, SessionState state, std::string last_error = {}) {
  Session session;
  session.name = "Mesh_" + address;
  session.address = std::move(address);
  session.state = state;
  session.passive = state == SessionState::kPassive;
  session.admin_down = state == SessionState::kDown;
  session.last_error = std::move(last_error);
  return session;
}

const Session kUp1 = session("10.0.0.1", SessionState::kEstablished);
const Session kUp2 = session("10.0.0.2", SessionState::kEstablished);
const Session kRefused = session("10.0.0.3", SessionState::kActive, "Socket: Connection refused");
const Session kSilent = session("10.0.0.4", SessionState::kConnect);
const Session kDisabled = session("10.0.0.5", SessionState::kDown);
const Session kPassive = session("10.0.0.6", SessionState::kPassive);

BgpFacts facts(std::vector<Session> sessions) {
  BgpFacts facts;
  facts.sessions = std::move(sessions);
  return facts;
}

Outcome outcome(const BgpFacts& facts, const Policy& policy = {},
                std::optional<Duration> started = 1h) {
  return judge(facts, policy, started).outcome;
}

std::string reason(const BgpFacts& facts, const Policy& policy = {},
                   std::optional<Duration> started = 1h) {
  return judge(facts, policy, started).reason.text;
}

TEST(BgpPolicy, AllEstablishedIsOk) {
  const Verdict verdict = judge(facts({kUp1, kUp2}), {}, 1h);
  EXPECT_EQ(verdict.outcome, Outcome::kOk);
  EXPECT_EQ(verdict.reason, Reason{});
}

TEST(BgpPolicy, WhileTheNodeStartsEveryPeerMustBeThere) {
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {}, 5s), Outcome::kFail);
  EXPECT_EQ(reason(facts({kUp1, kRefused}), {}, 5s),
            "BGP not established with 10.0.0.3 (Active: Socket: Connection refused)");
}

TEST(BgpPolicy, LaterOnePeerIsEnoughAndTheOthersAreAWarning) {
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {}, 30s), Outcome::kWarn);
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {}, std::nullopt), Outcome::kWarn);
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {.partial = Treat::kFail}), Outcome::kFail);
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {.partial = Treat::kIgnore}), Outcome::kOk);
}

TEST(BgpPolicy, AStartThatLiesAheadIsNoStart) {
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {}, -1h), Outcome::kWarn);
}

TEST(BgpPolicy, WithoutAnyPeerEstablishedItFailsAndNamesThemInOrder) {
  EXPECT_EQ(reason(facts({kSilent, kRefused})),
            "BGP not established with 10.0.0.4 (Connect), 10.0.0.3 (Active: Socket: Connection "
            "refused)");
  EXPECT_EQ(outcome(facts({kSilent, kRefused})), Outcome::kFail);
  EXPECT_EQ(outcome(facts({kSilent}), {.partial = Treat::kIgnore, .min_peers = 0}), Outcome::kFail);
}

TEST(BgpPolicy, RequireAllNeverRelaxes) {
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {.require = Require::kAll}), Outcome::kFail);
}

TEST(BgpPolicy, RequireAnyIsNotStricterAtStart) {
  EXPECT_EQ(outcome(facts({kUp1, kRefused}), {.require = Require::kAny}, 1s), Outcome::kWarn);
}

TEST(BgpPolicy, NoPeersAreNotReadyUnlessToldSo) {
  EXPECT_EQ(outcome(facts({})), Outcome::kFail);
  EXPECT_EQ(outcome(facts({}), {.no_peers = Treat::kIgnore}), Outcome::kOk);
}

TEST(BgpPolicy, DisabledPeersAreToldFromAbsentOnes) {
  EXPECT_EQ(outcome(facts({kUp1, kDisabled})), Outcome::kWarn);
  EXPECT_EQ(reason(facts({kUp1, kDisabled})), "administratively down: 10.0.0.5");
  EXPECT_EQ(outcome(facts({kUp1, kDisabled}), {.disabled = Treat::kIgnore}), Outcome::kOk);
  EXPECT_EQ(outcome(facts({kDisabled})), Outcome::kFail);
  EXPECT_EQ(reason(facts({kDisabled})), "every peer is administratively down: 10.0.0.5");
  EXPECT_EQ(outcome(facts({kDisabled}), calico_policy()), Outcome::kOk) << "as Calico does";
}

TEST(BgpPolicy, PassivePeersCountUnlessToldOtherwise) {
  EXPECT_EQ(outcome(facts({kUp1, kPassive}), {}, 1s), Outcome::kFail);
  EXPECT_EQ(outcome(facts({kUp1, kPassive}), {.count_passive = false}, 1s), Outcome::kOk);
}

TEST(BgpPolicy, ExpectedPeersMustBeConfigured) {
  const Policy policy{.expect = {"10.0.0.1", "Mesh_10.0.0.2", "10.0.0.9"}};
  EXPECT_EQ(outcome(facts({kUp1, kUp2}), policy), Outcome::kFail);
  EXPECT_EQ(reason(facts({kUp1, kUp2}), policy), "no session is configured with 10.0.0.9");
}

TEST(BgpPolicy, AMinimumOfPeersHolds) {
  EXPECT_EQ(outcome(facts({kUp1, kUp2}), {.min_peers = 3}), Outcome::kFail);
  EXPECT_EQ(reason(facts({kUp1, kUp2}), {.min_peers = 3}), "2 of at least 3 peers are established");
  EXPECT_EQ(outcome(facts({kUp1, kUp2}), {.min_peers = 2}), Outcome::kOk);
}

TEST(BgpPolicy, AGracefulRestartMattersInsideTheWindow) {
  BgpFacts restarting = facts({kUp1, kUp2});
  restarting.restart = GracefulRestart{2, 238s, 240s};
  EXPECT_EQ(outcome(restarting, {}, 5s), Outcome::kFail);
  EXPECT_EQ(outcome(restarting, {}, 60s), Outcome::kWarn);
  EXPECT_EQ(reason(restarting, {}, 60s),
            "graceful restart in progress, " + format_duration(238s) + " left of its timer");
  EXPECT_EQ(outcome(restarting, {.restart = DuringRestart::kFail}, 60s), Outcome::kFail);
  EXPECT_EQ(outcome(restarting, {.restart = DuringRestart::kIgnore}, 5s), Outcome::kOk);
}

TEST(BgpPolicy, AShutdownFails) {
  BgpFacts ending = facts({kUp1});
  ending.shutting_down = true;
  EXPECT_EQ(outcome(ending), Outcome::kFail);
}

TEST(BgpPolicy, EstablishedWithoutRoutesCanBeAWarning) {
  Session idle = kUp1;
  idle.routes = Routes{0, 4};
  EXPECT_EQ(outcome(facts({idle}), {.min_routes = 1}), Outcome::kWarn);
  EXPECT_EQ(outcome(facts({idle})), Outcome::kOk);
}

TEST(BgpPolicy, OnlyWhatIsAskedForCounts) {
  Session workload = kSilent;
  workload.name = "Local_Workload_10_0_0_4";
  EXPECT_EQ(outcome(facts({kUp1, workload}), calico_policy(), 1s), Outcome::kOk);
  Session six = session("fd00::1", SessionState::kActive);
  EXPECT_EQ(outcome(facts({kUp1, six}), {.family = "ipv4"}), Outcome::kOk);
  EXPECT_EQ(outcome(facts({kUp1, six}), {.family = "ipv6"}), Outcome::kFail);
  six.families = {"ipv4"};  // IPv4 routes over a session between IPv6 addresses
  EXPECT_EQ(outcome(facts({six}), {.family = "ipv4"}), Outcome::kFail);
}

TEST(BgpPolicy, ManyPeersAreCountedAndHostileWordsEscaped) {
  std::vector<Session> many(500, kRefused);
  const std::string text = reason(facts(many));
  EXPECT_LT(text.size(), 1000U);
  EXPECT_TRUE(text.ends_with("and 492 more"));
  Session hostile = kRefused;
  hostile.last_error = "\x1b[2J";
  EXPECT_FALSE(reason(facts({hostile})).contains('\x1b'));
}

/// What is known of Calico's own rule (node/pkg/health): peers, window, graceful restart.
TEST(CalicoPolicy, DecidesAsBirdReadyDoes) {
  BgpFacts restarting = facts({kUp1});
  restarting.restart.emplace();
  struct Row {
    BgpFacts facts;
    Duration started;
    bool ready;
  };
  for (const auto& [given, started, ready] : std::vector<Row>{
           {facts({kUp1, kUp2}), 0s, true},
           {facts({kUp1, kRefused}), 0s, false},
           {facts({kUp1, kRefused}), 1h, true},
           {facts({kSilent, kRefused}), 1h, false},
           {facts({}), 0s, true},
           {restarting, 0s, false},
           {facts({kPassive, kUp1}), 0s, false},
       }) {
    EXPECT_EQ(outcome(given, calico_policy(), started) != Outcome::kFail, ready);
  }
}

TEST(BgpPolicy, WordsAreRead) {
  EXPECT_EQ(parse_require("all"), Require::kAll);
  EXPECT_EQ(parse_treat("ignore"), Treat::kIgnore);
  EXPECT_EQ(parse_during_restart("startup"), DuringRestart::kStartup);
  EXPECT_FALSE(parse_treat("maybe").has_value());
}

}  // namespace
}  // namespace wardmote::judge::bgp
