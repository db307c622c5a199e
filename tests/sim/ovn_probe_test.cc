#include "observe/ovn/ovn_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "observe/ovn/cluster.h"
#include "sim/fake_member.h"
#include "sim/seeds.h"
#include "support/ovn_captures.h"

namespace wardmote::observe::ovn {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::raft::Opinion;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;
using sim::FakeMember;
using sim::SimRuntime;
using sim::World;
using testing::FakeManners;
using namespace std::chrono_literals;

const Endpoint kControl = Endpoint::unix_socket("/run/ovn/ovnnb_db.ctl");
const Endpoint kDatabase = Endpoint::unix_socket("/run/ovn/ovnnb_db.sock");
constexpr Duration kTimeout = 900ms;

FakeManners healthy() {
  static const std::string status = testing::statuses_of("01-healthy.txt").at(0);
  return testing::healthy_manners(status);
}

FakeManners raw(std::string reply) {
  FakeManners manners;
  manners.raw = std::move(reply);
  return manners;
}

MemberTarget target(std::string name = "ctl-1") {
  return {.name = std::move(name),
          .database = "OVN_Northbound",
          .control = kControl,
          .control_command = {},
          .ovsdb = kDatabase,
          .options = {}};
}

/// A member on our own host, and our probe of it.
struct Beside {
  explicit Beside(World& world, MemberTarget what = target()) : sim(world), probe(us, what) {}

  /// One look; it must end by its deadline, whatever happens.
  Observation look() {
    const Deadline deadline = us.deadline_in(kTimeout);
    const Observation seen = run_task(sim, us, probe.look(deadline));
    EXPECT_LE(sim.now(), deadline.at);
    return seen;
  }
  Opinion opinion() { return std::get<Opinion>(look().facts); }

  World& sim;
  SimRuntime& us = sim.host("us");
  FakeMember member{sim.process("ovsdb-server", "us"), kControl, kDatabase};
  OvnProbe probe;
};

ReasonCode status_reason(const Opinion& opinion) {
  return opinion.status_source.reason.code;
}
ReasonCode local_reason(const Opinion& opinion) {
  return opinion.local_source.reason.code;
}

SIM_TEST(SimOvnProbe, AHealthyMemberIsOkOverKeptOpenConnections) {
  Beside here(sim);
  here.member.start(healthy());
  for (int i = 0; i < 20; ++i) {
    const Observation seen = here.look();
    EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
    EXPECT_TRUE(std::get<Opinion>(seen.facts).speaks());
    sim.run_for(1s);
  }
  EXPECT_LE(here.member.connections(), 3);
}

SIM_TEST(SimOvnProbe, NoServerIsMissingAndADeadOneRefused) {
  Beside here(sim);
  EXPECT_EQ(here.look().reason.code, ReasonCode::kMissing);
  here.member.start(healthy());
  EXPECT_EQ(here.look().outcome, Outcome::kOk);
  here.member.crash();
  EXPECT_EQ(here.look().reason.code, ReasonCode::kRefused);
  here.member.start(healthy());
  EXPECT_EQ(here.look().outcome, Outcome::kOk);
}

/// SIGSTOP: the kernel still accepts, so only silence tells.
SIM_TEST(SimOvnProbe, AStoppedServerIsHungAndWellAgainAtOnceWhenItGoesOn) {
  Beside here(sim);
  here.member.start(healthy());
  if (sim.random().chance(0.5)) here.look();  // with open connections and without
  here.member.process().pause();
  for (int i = 0; i < 5; ++i) {
    const Observation seen = here.look();
    EXPECT_EQ(seen.outcome, Outcome::kFail);
    EXPECT_EQ(seen.reason.code, ReasonCode::kHung) << seen.reason.text;
    EXPECT_EQ(status_reason(std::get<Opinion>(seen.facts)), ReasonCode::kHung);
    EXPECT_EQ(local_reason(std::get<Opinion>(seen.facts)), ReasonCode::kHung);
  }
  here.member.process().resume();
  EXPECT_EQ(here.look().outcome, Outcome::kOk);
}

/// Each hostile peer, on one of the two ways: it ends by the deadline with its reason, and the
/// other way is heard all the same.
SIM_TEST_SEEDS(SimOvnProbe, OneHostileWayDoesNotHideTheOther, 50) {
  struct Hostile {
    const char* what;
    FakeManners manners;
    ReasonCode expected;
  };
  FakeManners endless = raw(R"({"id":null,"method":"update","params":[]})");
  endless.endless = true;
  FakeManners drip = healthy();
  drip.step = 1;
  drip.pause = 10ms;
  FakeManners drips_garbage = raw(std::string(5000, ' '));
  drips_garbage.step = 1;
  drips_garbage.pause = 10ms;
  FakeManners closes = healthy();
  closes.results.clear();
  closes.closes_after = 1;
  const std::vector<Hostile> peers = {
      {"silent", FakeManners{}, ReasonCode::kHung},
      {"garbage", raw("HTTP/1.1 400 Bad Request\r\n\r\n"), ReasonCode::kProtocol},
      {"half JSON", raw(R"({"id":{ID},"result":"half)"), ReasonCode::kHung},
      {"reply to nothing", raw(R"({"id":424242,"result":[],"error":null})"), ReasonCode::kProtocol},
      {"endless", endless, ReasonCode::kOverLimit},
      {"a long string", raw(R"({"id":{ID},"result":")" + std::string(3 << 20, 'x')),
       ReasonCode::kOverLimit},
      {"deep nesting", raw(R"({"id":{ID},"result":)" + std::string(100'000, '[')),
       ReasonCode::kOverLimit},
      {"drip", drip, ReasonCode::kHung},
      {"drips blanks", drips_garbage, ReasonCode::kHung},
      {"closes", closes, ReasonCode::kClosed},
  };
  const Hostile& peer = peers[sim.random().below(peers.size())];
  SCOPED_TRACE(peer.what);
  Beside control(sim);
  const bool on_control = sim.random().chance(0.5);
  control.member.start(on_control ? peer.manners : healthy(),
                       on_control ? healthy() : peer.manners);
  for (int i = 0; i < 3; ++i) {
    const Opinion opinion = control.opinion();
    EXPECT_EQ(on_control ? status_reason(opinion) : local_reason(opinion), peer.expected)
        << (on_control ? opinion.status_source : opinion.local_source).reason.text;
    EXPECT_EQ(on_control ? local_reason(opinion) : status_reason(opinion), ReasonCode::kNone);
    EXPECT_TRUE(opinion.speaks());
  }
}

SIM_TEST(SimOvnProbe, WithoutDescriptorsWeAreThePoorOnes) {
  Beside here(sim);
  here.member.start(healthy());
  here.us.exhaust_descriptors(true);
  const Observation seen = here.look();
  EXPECT_EQ(seen.reason.code, ReasonCode::kProberStarved) << seen.reason.text;
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
}

/// A member on another host, known by its OVSDB port alone.
struct Apart {
  explicit Apart(World& world) : sim(world) {
    member.start(healthy());
    sim.network().every_link().jitter = 5ms;
  }
  Observation look() {
    const Deadline deadline = us.deadline_in(kTimeout);
    const Observation seen = run_task(sim, us, probe.look(deadline));
    EXPECT_LE(sim.now(), deadline.at);
    return seen;
  }
  static MemberTarget remote() {
    MemberTarget there = target("ctl-2");
    there.control.reset();
    there.ovsdb = Endpoint::tcp("ctl-2", 6641);
    return there;
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& them = sim.host("ctl-2");
  FakeMember member{them, kControl, Endpoint::tcp("ctl-2", 6641)};
  OvnProbe probe{us, remote()};
};

// Also while a connection to it is open: a server is hung that accepts one and does not answer.
SIM_TEST(SimOvnProbe, AnUnreachableHostIsUnreachableAndNeverHung) {
  Apart there(sim);
  const bool open = sim.random().chance(0.5);
  if (open) EXPECT_EQ(there.look().outcome, Outcome::kOk);
  if (sim.random().chance(0.5)) {
    sim.network().cut("us", "ctl-2");
  } else {
    sim.network().cut_one_way("ctl-2", "us");
  }
  EXPECT_EQ(there.look().reason.code, ReasonCode::kUnreachable) << open;
  EXPECT_EQ(there.look().reason.code, ReasonCode::kUnreachable);
  sim.network().heal();
  EXPECT_EQ(there.look().outcome, Outcome::kOk);
}

SIM_TEST(SimOvnProbe, AHalfOpenConnectionIsNoticedByTheNextLook) {
  Apart there(sim);
  EXPECT_EQ(there.look().outcome, Outcome::kOk);
  there.them.vanish();
  EXPECT_EQ(there.look().reason.code, ReasonCode::kUnreachable);
  EXPECT_EQ(there.look().reason.code, ReasonCode::kUnreachable);
}

SIM_TEST(SimOvnProbe, LossDelaysAndDoesNotLie) {
  Apart there(sim);
  sim.network().link("us", "ctl-2").loss = 0.05;
  sim.network().link("ctl-2", "us").loss = 0.05;
  for (int i = 0; i < 20; ++i) {
    const Observation seen = there.look();
    // Several lost segments in a row may take longer than a look; nothing else may come of it.
    if (seen.outcome == Outcome::kOk) continue;
    EXPECT_TRUE(seen.reason.code == ReasonCode::kHung ||
                seen.reason.code == ReasonCode::kUnreachable)
        << seen.reason.text;
  }
}

SIM_TEST(SimOvnProbe, AResetIsClosedOrRepairedButNeverBelieved) {
  Apart there(sim);
  EXPECT_EQ(there.look().outcome, Outcome::kOk);
  sim.network().link("us", "ctl-2").reset = 1;
  EXPECT_EQ(there.look().reason.code, ReasonCode::kClosed);
  sim.network().link("us", "ctl-2").reset = 0;
  EXPECT_EQ(there.look().outcome, Outcome::kOk);
}

SIM_TEST(SimOvnProbe, AHungMemberDelaysNoOther) {
  SimRuntime& us = sim.host("us");
  std::vector<std::unique_ptr<FakeMember>> members;
  std::vector<MemberTarget> targets;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "ctl-" + std::to_string(i);
    const Endpoint control = Endpoint::unix_socket("/run/" + name + ".ctl");
    const Endpoint database = Endpoint::unix_socket("/run/" + name + ".sock");
    members.push_back(std::make_unique<FakeMember>(sim.process(name, "us"), control, database));
    members.back()->start(healthy());
    MemberTarget member = target(name);
    member.control = control;
    member.ovsdb = database;
    targets.push_back(std::move(member));
  }
  const std::size_t hung = sim.random().below(3);
  members[hung]->process().pause();
  Cluster cluster(us, targets);
  const TimePoint begun = sim.now();
  std::vector<Duration> heard(3);
  const Cluster::Heard note = [&](std::size_t index, const Opinion& opinion) {
    heard[index] = sim.now() - begun;
    EXPECT_EQ(opinion.speaks(), index != hung);
  };
  sim.run(us, cluster.look_each(us.deadline_in(kTimeout), note));
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != hung) EXPECT_LT(heard[i], 10ms);
  }
  EXPECT_LE(heard[hung], kTimeout);
}

/// Whatever befalls the member: looks end on time, and when peace returns so does the truth.
SIM_TEST(SimOvnProbe, AfterAnyTroubleTheTruthReturns) {
  Beside here(sim);
  here.member.start(healthy());
  for (int i = 0; i < 30; ++i) {
    switch (sim.random().below(5)) {
      case 0: here.member.process().pause_for(Duration(sim.random().below(3'000'000'000))); break;
      case 1:
        here.member.crash();
        if (sim.random().chance(0.5)) here.look();
        here.member.start(healthy());
        break;
      case 2: here.us.pause_for(Duration(sim.random().below(2'000'000'000))); break;
      default: break;
    }
    const Deadline deadline = here.us.deadline_in(kTimeout);
    const Observation seen = run_task(sim, here.us, here.probe.look(deadline));
    if (seen.outcome != Outcome::kOk) EXPECT_NE(seen.reason.code, ReasonCode::kNone);
    sim.run_for(Duration(sim.random().below(1'000'000'000)));
  }
  sim.run_for(5s);
  EXPECT_EQ(here.look().outcome, Outcome::kOk);
}

}  // namespace
}  // namespace wardmote::observe::ovn
