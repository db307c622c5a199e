// One database server and its role: when it is silent its process says whether it is hung, and
// after a command it says itself what it is.
#include "act/failover/replica.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/format.h"
#include "sim/fake_member.h"
#include "sim/seeds.h"

namespace wardmote::act::failover {
namespace {

using runtime::Deadline;
using runtime::Endpoint;
using sim::FakeMember;
using sim::SimRuntime;
using sim::World;
using testing::FakeManners;
using Life = ReplicaState::Life;
using namespace std::chrono_literals;

constexpr std::string_view kStatus = "ovsdb-server/sync-status";
constexpr std::string_view kPid = "/run/ovn/ovnnb_db.pid";

const ReplicaFiles kFiles = {"OVN_Northbound", "/run/ovn/ovnnb_db.ctl", "/run/ovn/ovnnb_db.sock",
                             std::string(kPid)};

FakeManners says(const std::string& status) {
  FakeManners manners;
  manners.results[std::string(kStatus)] = status;
  manners.results["ovsdb-server/set-active-ovsdb-server"] = R"("")";
  manners.results["ovsdb-server/connect-active-ovsdb-server"] = R"("")";
  manners.results["ovsdb-server/set-active-ovsdb-server-probe-interval"] = R"("")";
  manners.results["ovsdb-server/disconnect-active-ovsdb-server"] = R"("")";
  return manners;
}

const FakeManners kActive = says(R"("state: active\n")");
const FakeManners kBackup =
    says(R"("state: backup\nreplicating: tcp:10.0.0.9:6641\ndatabase: OVN_Northbound\n")");
const FakeManners kSilent;

/// A server on our own host, as its files in /proc show it.
struct Beside {
  Beside(World& world, const FakeManners& manners) : sim(world), replica(us, kFiles) {
    member.start(manners);
    us.files().put(std::string(kPid), "42\n");
    process('S', 0ms);
  }

  void process(char state, Duration cpu, const std::string& name = "ovsdb-server") {
    us.files().put("/proc/42/stat",
                   fmt::format("42 ({}) {} 1 42 42 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 777 0 0\n",
                               name, state, cpu / 10ms));
  }
  ReplicaState look(Duration within = 60s) {
    const TimePoint begun = sim.now();
    ReplicaState seen = run_task(sim, us, replica.look(us.deadline_in(within)));
    took = sim.now() - begun;
    return seen;
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  FakeMember member{sim.process("ovsdb-server", "us"), Endpoint::unix_socket(kFiles.control),
                    Endpoint::unix_socket(kFiles.socket)};
  Replica replica;
  Duration took{};
};

SIM_TEST(Replica, SaysWhatItIs) {
  Beside active(sim, kActive);
  const ReplicaState seen = active.look();
  EXPECT_TRUE(seen.active());
  ASSERT_TRUE(seen.process);
  EXPECT_EQ(seen.process->pid, 42U);
  active.member.answer(kBackup);
  const ReplicaState backup = active.look();
  EXPECT_FALSE(backup.active());
  EXPECT_EQ(backup.sync.source, "tcp:10.0.0.9:6641");
}

SIM_TEST(Replica, AStoppedProcessIsHungAtOnce) {
  Beside server(sim, kSilent);
  server.process('T', 0ms);
  const ReplicaState seen = server.look();
  EXPECT_EQ(seen.life, Life::kHung);
  EXPECT_EQ(seen.detail, "process 42 is stopped");
  EXPECT_LE(server.took, 2s);
}

/// A backup that connects to a large database takes all of the server's one thread for seconds.
SIM_TEST(Replica, AServerThatComputesIsBusyAndNotHung) {
  Beside server(sim, kSilent);
  for (int i = 1; i <= 70; ++i) sim.at(i * 100ms, [&server, i] { server.process('R', i * 100ms); });
  sim.at(7s, [&server] { server.member.answer(kActive); });
  const ReplicaState seen = server.look();
  EXPECT_EQ(seen.life, Life::kAnswers);
  EXPECT_GE(server.took, 7s);
}

SIM_TEST(Replica, AServerThatComputesIsBusyWhenTheTimeIsOver) {
  Beside server(sim, kSilent);
  for (int i = 1; i <= 70; ++i) sim.at(i * 100ms, [&server, i] { server.process('R', i * 100ms); });
  EXPECT_EQ(server.look(4s).life, Life::kBusy);
}

SIM_TEST(Replica, AServerThatComputesForEverIsHungAtLast) {
  Beside server(sim, kSilent);
  for (int i = 1; i <= 600; ++i)
    sim.at(i * 100ms, [&server, i] { server.process('R', i * 100ms); });
  EXPECT_EQ(server.look(120s).life, Life::kHung);
  EXPECT_LE(server.took, 33s);
}

SIM_TEST(Replica, AServerThatSleepsAndDoesNotAnswerIsHung) {
  Beside server(sim, kSilent);
  EXPECT_EQ(server.look().life, Life::kHung);
  EXPECT_LE(server.took, 4s);
}

SIM_TEST(Replica, AServerThatWaitsForADiskHasALimitOfItsOwn) {
  Beside server(sim, kSilent);
  server.process('D', 0ms);
  const ReplicaState seen = server.look();
  EXPECT_EQ(seen.life, Life::kHung);
  EXPECT_EQ(seen.detail, "process 42 waits for a disk");
  EXPECT_GE(server.took, 10s);
}

SIM_TEST(Replica, AZombieAndTheProcessOfSomebodyElseAreNoServer) {
  Beside server(sim, kActive);
  server.member.crash();
  server.process('Z', 0ms);
  EXPECT_EQ(server.look().life, Life::kDown);
  server.process('S', 0ms, "sleep");
  EXPECT_EQ(server.look().life, Life::kDown);
  EXPECT_FALSE(server.replica.process());
}

SIM_TEST(Replica, AProcessWithoutItsControlSocketRuns) {
  Beside server(sim, kActive);
  server.member.crash();
  EXPECT_EQ(server.look().life, Life::kNoDoor);
}

SIM_TEST(Replica, APromotionIsWhatTheServerSaysAfterwards) {
  Beside server(sim, kActive);
  EXPECT_TRUE(run_task(sim, server.us, server.replica.promote(server.us.deadline_in(1s))));
  server.member.answer(kBackup);
  const auto stays = run_task(sim, server.us, server.replica.promote(server.us.deadline_in(1s)));
  ASSERT_FALSE(stays);
  EXPECT_EQ(stays.error().code, Errc::kRejected);
}

SIM_TEST(Replica, ABackupIsOneOfTheSourceThatWasAskedFor) {
  Beside server(sim, kBackup);
  const auto follow = [&](std::string source) {
    return run_task(sim, server.us,
                    server.replica.follow(std::move(source), 60'000, server.us.deadline_in(1s)));
  };
  EXPECT_TRUE(follow("tcp:10.0.0.9:6641"));
  EXPECT_FALSE(follow("tcp:10.0.0.8:6641"));
  // As ovsdb-server does after any error of replication.
  server.member.answer(kActive);
  const auto open = follow("tcp:10.0.0.9:6641");
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().context.find("it is writable instead"), std::string::npos);
}

}  // namespace
}  // namespace wardmote::act::failover
