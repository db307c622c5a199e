// The production clients of OVN against members that are slow, stopped, cut off and killed, in
// virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "observe/ovn/cluster.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/ovn_captures.h"

namespace wardmote::sim {
namespace {

using judge::ReasonCode;
using judge::raft::Opinion;
using observe::ovn::Cluster;
using observe::ovn::MemberTarget;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;
using testing::FakeManners;
using testing::FakeServer;
using testing::healthy_manners;
using namespace std::chrono_literals;

constexpr std::uint16_t kControlPort = 9;
constexpr std::uint16_t kOvsdbPort = 6641;

/// Three hosts that answer as the members of 01-healthy.txt did, and an agent that asks them over
/// the network. The control sockets are ports here, so that all faults of a network can happen to
/// them.
class Lab {
 public:
  explicit Lab(World& world) : sim(world) {
    const std::vector<std::string> statuses = testing::statuses_of("01-healthy.txt");
    for (int i = 0; i < 3; ++i) {
      SimRuntime& host = sim.host(name(i));
      const FakeManners manners = healthy_manners(statuses.at(static_cast<std::size_t>(i)));
      for (const std::uint16_t port : {kControlPort, kOvsdbPort}) {
        servers.push_back(serve(host, Endpoint::tcp(name(i), port), manners));
      }
      MemberTarget target;
      target.name = name(i);
      target.database = "OVN_Northbound";
      target.control = Endpoint::tcp(name(i), kControlPort);
      target.ovsdb = Endpoint::tcp(name(i), kOvsdbPort);
      targets.push_back(std::move(target));
    }
    cluster = std::make_unique<Cluster>(agent, targets);
  }

  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  ~Lab() {
    for (int i = 0; i < 3; ++i) sim.host(name(i)).crash();
  }

  static std::string name(int member) { return fmt::format("ctl-{}", member + 1); }

  std::vector<Opinion> look(Duration timeout) {
    return run_task(sim, agent, cluster->look_all(agent.deadline_in(timeout)));
  }

  World& sim;
  SimRuntime& agent = sim.host("agent");
  std::vector<std::unique_ptr<FakeServer>> servers;
  std::vector<MemberTarget> targets;
  std::unique_ptr<Cluster> cluster;
};

bool whole(const Opinion& opinion) {
  return opinion.status && opinion.local;
}

SIM_TEST_SEEDS(OvnLook, AllMembersInTheOrderOfTheConfiguration, 3) {
  Lab lab(sim);
  const std::vector<Opinion> opinions = lab.look(900ms);
  ASSERT_EQ(opinions.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(opinions[static_cast<std::size_t>(i)].member, Lab::name(i));
    EXPECT_TRUE(whole(opinions[static_cast<std::size_t>(i)]));
  }
  EXPECT_EQ(opinions[0].status->nickname, "dea6");
}

SIM_TEST(OvnLook, AStoppedMemberHangsAndDelaysNoOther) {
  Lab lab(sim);
  lab.look(900ms);
  sim.host("ctl-2").pause();
  const TimePoint begun = sim.now();
  for (const bool fresh :
       {false, true}) {  // over the kept connection, then over a new one that the kernel accepts
    const std::vector<Opinion> opinions = lab.look(900ms);
    EXPECT_TRUE(whole(opinions[0]) && whole(opinions[2])) << fresh;
    EXPECT_LE(opinions[0].ended - opinions[0].begun, 10ms) << fresh;
    EXPECT_LE(opinions[2].ended - opinions[2].begun, 10ms) << fresh;
    const ReasonCode why = fresh ? ReasonCode::kHung : ReasonCode::kUnreachable;
    EXPECT_EQ(opinions[1].status_source.reason.code, why);
    EXPECT_EQ(opinions[1].local_source.reason.code, why);
  }
  EXPECT_EQ(sim.now() - begun, 1800ms) << "two deadlines, to the nanosecond";
  sim.host("ctl-2").resume();
  EXPECT_TRUE(whole(lab.look(900ms)[1]));
}

SIM_TEST(OvnLook, KilledRefusedGoneAndCutOffDiffer) {
  Lab lab(sim);
  lab.look(900ms);
  sim.host("ctl-1").crash();
  sim.network().isolate("ctl-2");
  sim.network().link("agent", "ctl-3").no_route = true;
  lab.look(900ms);  // ends what was kept open
  const std::vector<Opinion> opinions = lab.look(900ms);
  EXPECT_EQ(opinions[0].silence().code, ReasonCode::kRefused);
  EXPECT_EQ(opinions[1].silence().code, ReasonCode::kUnreachable);
  EXPECT_FALSE(opinions[1].speaks());
  sim.network().heal();
  EXPECT_TRUE(whole(lab.look(5s)[1]));
}

/// Whatever happens, a look ends by its deadline, an opinion never carries what another member
/// said, and a quiet network brings every member back.
SIM_TEST(OvnLook, EveryScheduleOfFaultsEndsByItsDeadlineAndHeals) {
  Lab lab(sim);
  const std::vector<std::string> nicknames{"dea6", "499b", "1430"};
  sim.network().every_link().jitter = 2ms;
  for (int round = 0; round < 30; ++round) {
    const std::string victim = Lab::name(static_cast<int>(sim.random().below(3)));
    Link& path = sim.network().link(victim, "agent");
    switch (sim.random().below(7)) {
      case 0:
        sim.host(victim).pause_for(
            Duration(static_cast<Duration::rep>(sim.random().below(2'000'000'000))));
        break;
      case 1: sim.network().isolate(victim); break;
      case 2: sim.network().cut_one_way(victim, "agent"); break;
      case 3: path.loss = 0.3; break;
      case 4: path.reset = 0.3; break;
      case 5: path.bytes_per_second = 500; break;
      default: sim.network().heal(); break;
    }
    const TimePoint begun = sim.now();
    const Duration timeout = 1ms * static_cast<Duration::rep>(1 + sim.random().below(900));
    const std::vector<Opinion> opinions = lab.look(timeout);
    ASSERT_LE(sim.now() - begun, timeout);
    for (std::size_t i = 0; i < opinions.size(); ++i) {
      const Opinion& opinion = opinions[i];
      ASSERT_EQ(opinion.status.has_value(), opinion.status_source.answered());
      ASSERT_EQ(opinion.local.has_value(), opinion.local_source.answered());
      if (opinion.status) ASSERT_EQ(opinion.status->nickname, nicknames[i]);
      sim.trace(to_string(opinion.status_source.reason.code));
      sim.trace(to_string(opinion.local_source.reason.code));
    }
    path = {};
  }
  sim.network().heal();
  sim.run_for(10s);
  for (const Opinion& opinion : lab.look(10s))
    ASSERT_TRUE(whole(opinion)) << opinion.silence().text;
}

SIM_TEST_SEEDS(OvnLook, CancellingALookEndsItAndNobodyGoesOnWithHalfOfIt, 20) {
  Lab lab(sim);
  sim.host("ctl-2").pause();
  bool ended = false;
  constexpr auto look = [](Cluster* cluster, Deadline deadline, bool* into) -> Task<void> {
    const std::vector<Opinion> opinions = co_await cluster->look_all(deadline);
    *into = true;
  };
  lab.agent.spawn("look", look(lab.cluster.get(), lab.agent.deadline_in(60s), &ended));
  sim.run_for(1s);
  lab.agent.crash();
  EXPECT_FALSE(ended);
}

}  // namespace
}  // namespace wardmote::sim
