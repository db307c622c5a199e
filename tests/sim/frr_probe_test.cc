#include "observe/frr/frr_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_vty.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::bgp::BgpFacts;
using judge::bgp::Session;
using observe::Params;
using observe::Probe;
using runtime::Endpoint;
using testing::FakeVty;
using testing::VtyManners;
using namespace std::chrono_literals;

constexpr const char* kSocket = "/run/frr/bgpd.vty";
constexpr std::string_view kSummary =
    R"json({"ipv4Unicast":{"routerId":"10.9.9.1","as":64512,"displayedPeers":3,"peers":{
  "10.9.9.2":{"remoteAs":64512,"localAs":64512,"pfxRcd":3,"pfxSnt":4,"peerUptimeMsec":15000,"state":"Established","peerState":"OK","connectionsDropped":1},
  "10.9.9.3":{"remoteAs":64512,"localAs":64512,"pfxRcd":0,"pfxSnt":0,"peerUptimeMsec":0,"state":"Active","peerState":"OK","connectionsDropped":0},
  "10.9.9.4":{"remoteAs":64512,"localAs":64512,"state":"Idle (Admin)","peerState":"Admin"}}},
 "ipv6Unicast":{"routerId":"10.9.9.1","peers":{"10.9.9.2":{"pfxRcd":2,"pfxSnt":1,"peerUptimeMsec":15000,"state":"Established","peerState":"OK"}}}})json";
constexpr std::string_view kFailed =
    R"({"ipv4Unicast":{"displayedPeers":3,"peers":{"10.9.9.3":{"lastResetDueTo":"Waiting for peer OPEN"}}}})";

constexpr const char* kAsk = "show bgp vrf all summary json";
constexpr const char* kAskFailed = "show bgp vrf all summary failed json";

std::string in_vrf(std::string_view vrf, std::string_view families) {
  return fmt::format(R"("{}":{})", vrf, families);
}

VtyManners real() {
  VtyManners manners;
  manners.replies[kAsk] = "{" + in_vrf("default", kSummary) + "}";
  manners.replies[kAskFailed] = "{" + in_vrf("default", kFailed) + "}";
  return manners;
}

class FrrHost {
 public:
  FrrHost(World& world, VtyManners manners) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    vty =
        std::make_unique<FakeVty>(host, spawn, Endpoint::unix_socket(kSocket), std::move(manners));
    make_probe({{"socket", kSocket}});
  }

  void make_probe(const Params& params) {
    auto made = observe::frr::make_frr_probe(host, "bgpd", params);
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }
  Observation look() { return run_task(sim, host, probe->look(host.deadline_in(1s))); }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  std::unique_ptr<FakeVty> vty;
  std::unique_ptr<Probe> probe;

 private:
  Curfew ends_ = Curfew(host);
};

SIM_TEST_SEEDS(FrrProbe, TellsItsSessions, 10) {
  FrrHost node(sim, real());
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kWarn) << seen.reason.text;
  EXPECT_EQ(seen.reason.text,
            "BGP not established with 10.9.9.3 (Active: Waiting for peer OPEN); administratively "
            "down: 10.9.9.4");
  const auto* const facts = std::get_if<BgpFacts>(&seen.facts);
  ASSERT_NE(facts, nullptr);
  ASSERT_EQ(facts->sessions.size(), 3U);
  const Session& up = facts->sessions[0];
  EXPECT_EQ(up.families, (std::vector<std::string>{"ipv4", "ipv6"}));
  EXPECT_EQ(up.routes, (judge::bgp::Routes{5, 5}));
  EXPECT_EQ(up.in_state, 15s);
  EXPECT_EQ(up.drops, 1U);
  EXPECT_TRUE(facts->sessions[2].admin_down);
  EXPECT_EQ(node.vty->commands(), (std::vector<std::string>{kAsk, kAskFailed}));
}

/// Two VRFs may have a peer of one address, and a dead peer counts wherever it is.
SIM_TEST_SEEDS(FrrProbe, TellsTheSessionsOfEveryVrf, 3) {
  constexpr std::string_view kRed =
      R"json({"ipv4Unicast":{"routerId":"10.9.9.1","peers":{"10.9.9.2":{"state":"Idle","peerState":"OK"}}}})json";
  constexpr std::string_view kRedFailed =
      R"({"ipv4Unicast":{"peers":{"10.9.9.2":{"lastResetDueTo":"Hold timer expired"}}}})";
  VtyManners manners;
  manners.replies[kAsk] = "{" + in_vrf("default", kSummary) + "," + in_vrf("red", kRed) + "}";
  manners.replies[kAskFailed] =
      "{" + in_vrf("default", kFailed) + "," + in_vrf("red", kRedFailed) + "}";
  manners.replies["show bgp vrf red summary json"] = kRed;
  manners.replies["show bgp vrf red summary failed json"] = kRedFailed;
  manners.replies["show bgp summary json"] = kSummary;
  manners.replies["show bgp summary failed json"] = kFailed;
  FrrHost node(sim, manners);
  const Observation seen = node.look();
  const auto* const facts = std::get_if<BgpFacts>(&seen.facts);
  ASSERT_NE(facts, nullptr) << seen.reason.text;
  ASSERT_EQ(facts->sessions.size(), 4U);
  EXPECT_TRUE(facts->sessions[0].established());
  EXPECT_EQ(facts->sessions[3].name, "red/10.9.9.2");
  EXPECT_EQ(facts->sessions[3].address, "10.9.9.2");
  EXPECT_EQ(facts->sessions[3].last_error, "Hold timer expired");

  const auto sessions_of = [&](const char* vrf) {
    node.make_probe({{"socket", kSocket}, {"vrf", std::string(vrf)}});
    const Observation one = node.look();
    const auto* const told = std::get_if<BgpFacts>(&one.facts);
    return told == nullptr ? 0 : told->sessions.size();
  };
  EXPECT_EQ(sessions_of("red"), 1U);
  EXPECT_EQ(sessions_of("default"), 3U);
  for (const char* wrong : {"", "a b", "x;y", "\n"})
    EXPECT_FALSE(observe::frr::make_frr_probe(node.host, "b", {{"vrf", std::string(wrong)}}));
}

SIM_TEST_SEEDS(FrrProbe, WithoutAnyInstanceItIsUnknown, 1) {
  VtyManners none;
  none.replies[kAsk] = "{\n}\n";
  const Observation seen = FrrHost(sim, none).look();
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.code, ReasonCode::kRejected) << seen.reason.text;
}

SIM_TEST_SEEDS(FrrProbe, KeepsItsConnectionAndSurvivesARestart, 5) {
  FrrHost node(sim, real());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(node.look().outcome, Outcome::kWarn);
  EXPECT_EQ(node.vty->connections(), 1);
  node.vty->hang_up();
  EXPECT_EQ(node.look().outcome, Outcome::kWarn);
  EXPECT_EQ(node.vty->connections(), 2);
}

SIM_TEST_SEEDS(FrrProbe, CutRepliesAndRefusalsAreNeverGood, 5) {
  VtyManners cut = real();
  cut.cuts_replies = true;
  const Observation seen = FrrHost(sim, cut).look();
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.code, ReasonCode::kClosed) << seen.reason.text;

  const Observation refused = FrrHost(sim, {}).look();
  EXPECT_EQ(refused.outcome, Outcome::kUnknown);
  EXPECT_EQ(refused.reason.code, ReasonCode::kRejected);
  EXPECT_TRUE(refused.reason.text.contains("Unknown command")) << refused.reason.text;
}

SIM_TEST_SEEDS(FrrProbe, OldVersionsWithoutTheListOfFailuresAreFine, 1) {
  VtyManners old = real();
  old.replies.erase(kAskFailed);
  EXPECT_EQ(FrrHost(sim, old).look().outcome, Outcome::kWarn);
}

SIM_TEST_SEEDS(FrrProbe, AStoppedDaemonIsHung, 3) {
  FrrHost node(sim, {.replies = {}, .accepts = false});
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(seen.reason.code, ReasonCode::kHung);
  EXPECT_EQ(seen.ended - seen.begun, 1s);
}

SIM_TEST_SEEDS(FrrProbe, WithoutNeighboursItIsNotReady, 1) {
  VtyManners empty;
  empty.replies[kAsk] = "{\"default\":{}}";
  empty.replies[kAskFailed] = "{\"default\":{}}";
  FrrHost node(sim, empty);
  EXPECT_EQ(node.look().outcome, Outcome::kFail);
  node.make_probe({{"socket", kSocket}, {"no_peers", std::string("ignore")}});
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
}

}  // namespace
}  // namespace wardmote::sim
