#include "observe/bird/bird_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/bird_captures.h"
#include "support/fake_bird.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::bgp::BgpFacts;
using observe::Params;
using observe::Probe;
using runtime::Endpoint;
using testing::bird_table;
using testing::bird_with;
using testing::BirdManners;
using testing::FakeBird;
using namespace std::chrono_literals;

constexpr std::string_view kUp =
    "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n"
    " Mesh_10_0_0_2 BGP      master   up     07:54:13    Established   \n";
constexpr std::string_view kHalfUp =
    "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n"
    " Mesh_10_0_0_2 BGP      master   start  07:54:13    Active        Socket: Connection "
    "refused\n";
constexpr const char* kSocket = "/run/calico/bird.ctl";

/// A host with one BIRD, and whoever asks it.
class BirdHost {
 public:
  explicit BirdHost(World& world, BirdManners manners) : sim(world) { serve(std::move(manners)); }
  explicit BirdHost(World& world) : sim(world) {}

  void serve(BirdManners manners, std::string path = kSocket) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    bird = std::make_unique<FakeBird>(host, spawn, Endpoint::unix_socket(std::move(path)),
                                      std::move(manners));
  }
  void make_probe(Params params = {{"socket", kSocket}}) {
    auto made = observe::bird::make_bird_probe(host, "bird", params);
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }
  Observation look() {
    if (!probe) make_probe();
    return run_task(sim, host, probe->look(host.deadline_in(2s)));
  }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  std::unique_ptr<FakeBird> bird;
  std::unique_ptr<Probe> probe;

 private:
  Curfew ends_ = Curfew(host);
};

SIM_TEST_SEEDS(BirdProbe, AllPeersEstablishedIsOkAndRestrictComesFirst, 20) {
  BirdHost node(sim, bird_with(bird_table(kUp)));
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_EQ(node.bird->commands(),
            (std::vector<std::string>{"restrict", "show status", "show protocols all"}));
  const auto* const facts = std::get_if<BgpFacts>(&seen.facts);
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->sessions.size(), 2U);
  EXPECT_EQ(facts->up_for, 1h);
  EXPECT_TRUE(seen.cost.fresh_connection);
  EXPECT_GT(seen.cost.bytes_in, 100U);
}

SIM_TEST_SEEDS(BirdProbe, OneConnectionServesTenLooks, 5) {
  BirdHost node(sim, bird_with(bird_table(kUp)));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(node.look().outcome, Outcome::kOk);
  EXPECT_EQ(node.bird->connections(), 1);
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
  EXPECT_EQ(node.bird->connections(), 2) << "and then whether it still accepts";
}

SIM_TEST_SEEDS(BirdProbe, ADaemonThatRestartedSinceIsAskedAnew, 20) {
  BirdHost node(sim, bird_with(bird_table(kUp)));
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
  node.bird->hang_up();
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
  EXPECT_EQ(node.bird->connections(), 2);
}

SIM_TEST_SEEDS(BirdProbe, ThePolicyDecides, 3) {
  BirdHost node(sim, bird_with(bird_table(kHalfUp)));
  EXPECT_EQ(node.look().outcome, Outcome::kWarn) << "an hour after the start";
  node.make_probe({{"socket", kSocket}, {"require", std::string("all")}});
  EXPECT_EQ(node.look().outcome, Outcome::kFail);
  node.make_probe({{"socket", kSocket}, {"policy", std::string("calico")}});
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
  node.make_probe({{"socket", kSocket}, {"expect", std::vector<std::string>{"10.0.0.3"}}});
  EXPECT_EQ(node.look().outcome, Outcome::kFail);
}

SIM_TEST_SEEDS(BirdProbe, AFileCanTellWhenTheNodeStarted, 3) {
  BirdHost node(sim, bird_with(bird_table(kHalfUp)));
  const std::string file = "/var/lib/calico/nodename";
  node.make_probe({{"socket", kSocket}, {"started_file", file}});
  const Observation missing = node.look();
  EXPECT_EQ(missing.outcome, Outcome::kFail);
  EXPECT_EQ(missing.reason.code, ReasonCode::kMissing) << missing.reason.text;
  node.host.files().put(file, "node-1", node.host.wall_now());
  EXPECT_EQ(node.look().outcome, Outcome::kFail)
      << "an hour after the daemon's, just after the node's";
  node.host.files().put(file, "node-1", node.host.wall_now() - 31s);
  EXPECT_EQ(node.look().outcome, Outcome::kWarn);
  node.host.files().put(file, "node-1", node.host.wall_now() + 1h);
  EXPECT_EQ(node.look().outcome, Outcome::kWarn) << "of the future: not young for ever";
}

SIM_TEST_SEEDS(BirdProbe, BriefAsksForTheRowsOnly, 3) {
  BirdHost node(sim, bird_with(bird_table(kUp)));
  node.make_probe({{"socket", kSocket}, {"brief", true}});
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
  EXPECT_EQ(node.bird->commands().back(), "show protocols");
}

/// What a look says of replies that are none; never ok and never warn.
Observation look_at(World& sim, BirdManners manners) {
  BirdHost node(sim, std::move(manners));
  // With Calico's policy no peers are ready, so that failing open would show.
  node.make_probe({{"socket", kSocket}, {"policy", std::string("calico")}});
  return node.look();
}

SIM_TEST_SEEDS(BirdProbe, CutAndEmptyRepliesAreNeverReady, 5) {
  const std::string table = bird_table(kUp);
  BirdManners silent_close = bird_with(table);
  silent_close.close_after = "greeting";
  EXPECT_EQ(look_at(sim, silent_close).reason.code, ReasonCode::kClosed);

  BirdManners after_query = bird_with("");
  after_query.close_after = "show protocols all";
  EXPECT_EQ(look_at(sim, after_query).reason.code, ReasonCode::kClosed);

  for (const std::size_t size : {table.size() - 6, table.size() - 30, std::size_t{70}}) {
    BirdManners cut = bird_with(table.substr(0, size));
    cut.close_after = "show protocols all";
    const Observation seen = look_at(sim, cut);
    EXPECT_EQ(seen.outcome, Outcome::kUnknown);
    EXPECT_EQ(seen.reason.code, ReasonCode::kClosed) << seen.reason.text;
    EXPECT_TRUE(seen.reason.text.contains("cut short")) << seen.reason.text;
  }
}

SIM_TEST_SEEDS(BirdProbe, GarbageIsAProtocolError, 3) {
  for (const char* table :
       {"2002\n0000 \n", "2002-name proto table state since info\n1002\n0000 \n",
        "2002-name proto table state since info\n0000x\n", "1002-a BGP m up t Established\n0000 \n",
        "\x01\x02\x03\n", "0000 \n"}) {
    const Observation seen = look_at(sim, bird_with(table));
    EXPECT_EQ(seen.outcome, Outcome::kUnknown);
    EXPECT_EQ(seen.reason.code, ReasonCode::kProtocol) << seen.reason.text;
  }
  BirdManners mail = bird_with(bird_table(kUp));
  mail.greeting = "220 smtp.example.com ESMTP\n";
  EXPECT_EQ(look_at(sim, mail).reason.code, ReasonCode::kProtocol);
  mail.greeting = "0001 QUAGGA ready.\n";
  const Observation other = look_at(sim, mail);
  EXPECT_EQ(other.reason.code, ReasonCode::kProtocol);
  EXPECT_TRUE(other.reason.text.contains("this is not BIRD")) << other.reason.text;
}

SIM_TEST_SEEDS(BirdProbe, WhatIsNoBirdGetsThreeHarmlessLines, 3) {
  BirdManners mail = bird_with(bird_table(kUp));
  mail.greeting = "220 smtp.example.com ESMTP\n";
  BirdHost node(sim, mail);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(node.look().reason.code, ReasonCode::kProtocol);
  const std::vector<std::string> harmless = {"restrict", "show status", "show protocols all"};
  const std::vector<std::string>& told = node.bird->commands();
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], harmless[i % 3]);
}

SIM_TEST_SEEDS(BirdProbe, ARefusalIsUnknownWithItsWords, 3) {
  const Observation seen = look_at(sim, bird_with("8003 No protocols match\n"));
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_TRUE(seen.reason.text.contains("8003 No protocols match")) << seen.reason.text;
}

SIM_TEST_SEEDS(BirdProbe, AStoppedDaemonIsHungByTheDeadline, 5) {
  BirdHost node(sim, {.accepts = false});
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(seen.reason.code, ReasonCode::kHung);
  EXPECT_TRUE(seen.reason.text.contains("no greeting")) << seen.reason.text;
  EXPECT_EQ(seen.ended - seen.begun, 2s);
}

SIM_TEST_SEEDS(BirdProbe, ADripEndsAtTheDeadlineAndSaysHowFarItCame, 5) {
  BirdManners drip = bird_with(bird_table(kUp));
  drip.step = 8;
  BirdHost node(sim, drip);
  const Observation seen = node.look();
  EXPECT_EQ(seen.reason.code, ReasonCode::kHung) << seen.reason.text;
  EXPECT_TRUE(seen.reason.text.contains("bytes")) << seen.reason.text;
  EXPECT_GE(seen.ended - seen.begun, 2s);
  EXPECT_LE(seen.ended - seen.begun, 2s + 50ms);
}

SIM_TEST_SEEDS(BirdProbe, RowsWithoutEndStopAtTheCapOrTheDeadline, 1) {
  BirdManners endless = bird_with(bird_table(kUp));
  endless.endless = true;
  endless.replies["show protocols all"] = testing::kBirdHeadings;
  endless.replies["show protocols all"] += "1002-a BGP master up 07:54:13 Established\n";
  const Observation seen = look_at(sim, endless);
  EXPECT_NE(seen.outcome, Outcome::kOk);
  EXPECT_TRUE(seen.reason.code == ReasonCode::kOverLimit || seen.reason.code == ReasonCode::kHung);
  EXPECT_LE(seen.cost.bytes_in, 5U << 20);
}

SIM_TEST_SEEDS(BirdProbe, BothSocketsAreTriedAndNamed, 3) {
  BirdHost node(sim);
  node.make_probe({});
  const Observation missing = node.look();
  EXPECT_EQ(missing.outcome, Outcome::kFail);
  EXPECT_EQ(missing.reason.code, ReasonCode::kMissing);
  EXPECT_TRUE(missing.reason.text.contains("/var/run/calico/bird.ctl")) << missing.reason.text;
  EXPECT_TRUE(missing.reason.text.contains("/var/run/bird/bird.ctl")) << missing.reason.text;

  node.serve(bird_with(bird_table(kUp)), "/var/run/bird/bird.ctl");
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
}

SIM_TEST_SEEDS(BirdProbe, AStaleSocketIsRefusedAndTheOtherIsTaken, 3) {
  BirdHost node(sim);
  node.serve(bird_with(bird_table(kUp)), "/var/run/calico/bird.ctl");
  node.host.crash();
  node.make_probe({});
  const Observation refused = node.look();
  EXPECT_EQ(refused.reason.code, ReasonCode::kRefused) << refused.reason.text;
  node.serve(bird_with(bird_table(kUp)), "/var/run/bird/bird.ctl");
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
}

SIM_TEST_SEEDS(BirdProbe, RealBirdsAreJudged, 1) {
  for (const std::string_view version : {"16", "20"}) {
    BirdManners real = bird_with(testing::bird_reply(
        fmt::format("bird{}-03-protocols-all.txt", version), "show protocols all"));
    real.replies["show status"] =
        testing::bird_reply(fmt::format("bird{}-04-status.txt", version), "show status");
    BirdHost node(sim, real);
    const Observation starting = node.look();
    EXPECT_EQ(starting.outcome, Outcome::kFail) << "16 s after its start not all are established";
    EXPECT_TRUE(starting.reason.text.contains("10.9.4.2")) << starting.reason.text;
    node.make_probe(
        {{"socket", kSocket}, {"window", Duration(5s)}, {"family", std::string("ipv4")}});
    EXPECT_EQ(node.look().outcome, Outcome::kWarn);
  }
}

SIM_TEST_SEEDS(BirdProbe, ParametersAreChecked, 1) {
  BirdHost node(sim);
  for (const Params& wrong : std::vector<Params>{{{"socket", std::string("10.0.0.1:179")}},
                                                 {{"require", std::string("most")}},
                                                 {{"policy", std::string("cilium")}},
                                                 {{"family", std::string("ipx")}},
                                                 {{"min_peers", std::int64_t{-1}}}}) {
    EXPECT_FALSE(observe::bird::make_bird_probe(node.host, "bird", wrong).has_value());
  }
}

}  // namespace
}  // namespace wardmote::sim
