#include "agent/agent.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "observe/kinds.h"
#include "sim/asked_agent.h"
#include "sim/fake_member.h"
#include "sim/seeds.h"
#include "support/captured_member.h"

namespace wardmote::agent {
namespace {

using runtime::Endpoint;
using sim::FakeMember;
using sim::SimRuntime;
using sim::World;
using testing::captured_member;
using testing::FakeManners;
using namespace std::chrono_literals;

constexpr std::string_view kConfig = R"(
api: {listen: 127.0.0.1:9470}
clusters:
  - name: nb
    ovn:
      database: OVN_Northbound
      members:
        - {name: ctl-1, control: /run/1.ctl, ovsdb: "unix:/run/1.sock"}
        - {name: ctl-2, control: /run/2.ctl, ovsdb: "unix:/run/2.sock"}
        - {name: ctl-3, control: /run/3.ctl, ovsdb: "unix:/run/3.sock"}
    every: 1s
    timeout: 900ms
)";

/// Member `index` of three, all well; the first is the leader.
FakeManners healthy(std::size_t index) {
  static const std::vector<FakeManners> members = {captured_member("01-healthy.txt", 0),
                                                   captured_member("01-healthy.txt", 1),
                                                   captured_member("01-healthy.txt", 2)};
  return members.at(index);
}

/// The whole agent and three servers, each a process of one host.
class Deployment : public sim::AskedAgent {
 public:
  explicit Deployment(World& world) : AskedAgent(world) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      members.push_back(
          std::make_unique<FakeMember>(sim.process("ovsdb-server-" + number, "ctl"),
                                       Endpoint::unix_socket("/run/" + number + ".ctl"),
                                       Endpoint::unix_socket("/run/" + number + ".sock")));
      members.back()->start(healthy(i));
    }
    const Result<void> started = agent.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Deployment() {
    us.resume();
    sim.run(us, agent.stop());
  }

  bool ready() { return get("/readyz").status == 200; }
  std::string findings() { return get("/api/v1/findings").body; }
  bool quiet() { return !findings().contains("RAFT_") && !findings().contains("MONITOR_"); }

  std::vector<std::unique_ptr<FakeMember>> members;
  const ServiceManager no_service{"", std::nullopt};
  Agent agent{us, no_service, *config::parse_config(kConfig, observe::probe_kinds()), "ctl"};
};

SIM_TEST_SEEDS(SimAgent, AHealthyClusterIsReadyWithinSecondsAndQuiet, 5) {
  Deployment lab(sim);
  EXPECT_LE(lab.time_until([&] { return lab.ready(); }, 10s), 3s);
  for (int i = 0; i < 60; ++i) {
    sim.run_for(1s);
    ASSERT_TRUE(lab.quiet()) << lab.findings();
    ASSERT_TRUE(lab.ready());
  }
}

SIM_TEST_SEEDS(SimAgent, AStoppedMemberIsNamedInTimeAndForgottenWhenItGoesOn, 10) {
  Deployment lab(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  const std::size_t who = sim.random().below(3);
  lab.members[who]->process().pause();
  // Two intervals, and the window: one election round.
  const auto named = [&] { return lab.findings().contains("RAFT_MEMBER_HUNG"); };
  EXPECT_LE(lab.time_until(named, 20s), 2s + 2s + 100ms);
  EXPECT_TRUE(lab.findings().contains("ctl-" + std::to_string(who + 1)));
  lab.members[who]->process().resume();
  EXPECT_LE(lab.time_until([&] { return lab.quiet(); }, 20s), 4s);
}

SIM_TEST_SEEDS(SimAgent, AKilledLeaderIsNamedInTimeAndItsSuccessorBelieved, 10) {
  Deployment lab(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  lab.members[0]->crash();
  // A replayed survivor hears the dead leader until it has a new one, so the time counts from then.
  sim.run_for(1s + Duration(sim.random().below(1'000'000'000)));
  lab.members[1]->answer(captured_member("05-leader-killed.txt", 0));
  lab.members[2]->answer(captured_member("05-leader-killed.txt", 1));
  const auto named = [&] { return lab.findings().contains("RAFT_MEMBER_DOWN"); };
  EXPECT_LE(lab.time_until(named, 20s), 2s + 2s + 100ms);
  EXPECT_TRUE(lab.findings().contains("ctl-1"));
  sim.run_for(10s);
  for (const char* code : {"RAFT_NO_QUORUM", "RAFT_NO_LEADER", "RAFT_TWO_LEADERS_SAME_TERM"}) {
    EXPECT_FALSE(lab.findings().contains(code)) << code;
  }
}

/// Own sickness is not others' death.
SIM_TEST_SEEDS(SimAgent, WhateverWeSufferOurselvesNoMemberIsAccused, 30) {
  Deployment lab(sim);
  sim.run_for(10s);
  for (int i = 0; i < 15; ++i) {
    const Duration time(100'000'000 + sim.random().below(8'000'000'000));
    switch (sim.random().below(4)) {
      case 0: lab.us.pause_for(time); break;
      case 1:
        lab.us.starve_for(time, Duration(300'000'000 + sim.random().below(2'000'000'000)));
        break;
      case 2: lab.us.jump_wall_clock(time - 4s); break;
      default: lab.us.exhaust_descriptors(true); break;
    }
    const TimePoint end = sim.now() + time + 2s;
    while (sim.now() < end) {
      sim.run_for(500ms);
      const std::string findings = lab.findings();
      ASSERT_FALSE(findings.contains("RAFT_")) << findings;
    }
    lab.us.exhaust_descriptors(false);
  }
  sim.run_for(10s);
  EXPECT_TRUE(lab.ready());
}

SIM_TEST_SEEDS(SimAgent, ItEndsInTimeEvenWhenEveryMemberHangs, 10) {
  TimePoint begun;
  {
    Deployment lab(sim);
    sim.run_for(5s);
    for (const auto& member : lab.members) member->process().pause();
    sim.run_for(Duration(sim.random().below(3'000'000'000)));
    begun = sim.now();
    sim.run(lab.us, lab.agent.stop());
    EXPECT_LE(sim.now() - begun, 1500ms);
  }
}

}  // namespace
}  // namespace wardmote::agent
