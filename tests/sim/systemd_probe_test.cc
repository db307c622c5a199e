#include "observe/systemd/systemd_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_bus.h"
#include "support/test_data.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::SystemdFacts;
using observe::Params;
using observe::Probe;
using runtime::Endpoint;
using testing::BusManners;
using testing::FakeBus;
using namespace std::chrono_literals;

constexpr const char* kBus = "/run/dbus/system_bus_socket";

std::string captured(std::string_view name) {
  std::ifstream file(fmt::format("{}/systemd/{}.bytes", WARDMOTE_TEST_DATA, name),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A recorded conversation, cut where the client spoke: after the authentication, and after the
/// reply to LoadUnit, whose body is an object path.
BusManners recorded(std::string_view name) {
  const std::string bytes = captured(name);
  const std::size_t accepted = bytes.find("\r\n", bytes.find("OK ")) + 2;
  const std::size_t loaded =
      bytes.find('\0', bytes.find("/org/freedesktop/systemd1/unit/", accepted)) + 1;
  BusManners manners;
  manners.parts = {bytes.substr(0, accepted), bytes.substr(accepted, loaded - accepted),
                   bytes.substr(loaded)};
  return manners;
}

class SystemdHost {
 public:
  SystemdHost(World& world, BusManners manners) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    bus = std::make_unique<FakeBus>(host, spawn, Endpoint::unix_socket(kBus), std::move(manners));
    make_probe({{"unit", "good"}});
  }

  void make_probe(const Params& params) {
    auto made = observe::systemd::make_systemd_probe(host, "unit", params);
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }
  Observation look() { return run_task(sim, host, probe->look(host.deadline_in(1s))); }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  std::unique_ptr<FakeBus> bus;
  std::unique_ptr<Probe> probe;

 private:
  Curfew ends_ = Curfew(host);
};

std::string proc_stat(std::uint32_t pid, char state) {
  return fmt::format(
      "{} (sleep) {} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 "
      "0 0 0 0 0 0 0 0 0 0 0 0\n",
      pid, state);
}

SIM_TEST_SEEDS(SystemdProbe, ARunningServiceAndItsProcess, 3) {
  sim.run_for(1h);
  {
    SystemdHost node(sim, recorded("good"));
    node.host.files().put("/proc/26024/stat", proc_stat(26024, 'S'));
    const Observation seen = node.look();
    EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
    const auto* const facts = std::get_if<SystemdFacts>(&seen.facts);
    ASSERT_NE(facts, nullptr);
    EXPECT_EQ(facts->id, "good.service");
    EXPECT_EQ(facts->main_pid, 26024U);
    EXPECT_FALSE(facts->watchdog) << "infinity is none";
    EXPECT_TRUE(node.bus->received().starts_with(std::string_view("\0AUTH EXTERNAL\r\n", 16)));
  }
  SystemdHost stopped(sim, recorded("good"));
  stopped.host.files().put("/proc/26024/stat", proc_stat(26024, 'T'));
  EXPECT_EQ(stopped.look().reason.text, "pid 26024 is stopped (T)");
}

SIM_TEST_SEEDS(SystemdProbe, ACrashLoopAUnitThatIsNotThereAndOneThatIsNoService, 1) {
  const Observation crash = SystemdHost(sim, recorded("crash")).look();
  EXPECT_EQ(crash.outcome, Outcome::kFail);
  EXPECT_EQ(crash.reason.text,
            "it ended and waits to be restarted (14 restarts): exit-code, exit code 3");
  const Observation none = SystemdHost(sim, recorded("nosuch")).look();
  EXPECT_EQ(none.outcome, Outcome::kFail);
  EXPECT_EQ(none.reason.code, ReasonCode::kMissing);
  const Observation socket = SystemdHost(sim, recorded("socket")).look();
  EXPECT_EQ(socket.outcome, Outcome::kOk) << socket.reason.text;
  const Observation watched = SystemdHost(sim, recorded("watched")).look();
  EXPECT_EQ(std::get<SystemdFacts>(watched.facts).watchdog, 30s);
}

SIM_TEST_SEEDS(SystemdProbe, NoBusSaysNothingOfTheService, 1) {
  SimRuntime& host = sim.host("bare");
  const auto probe = observe::systemd::make_systemd_probe(host, "unit", {{"unit", "good"}});
  const Observation seen = run_task(sim, host, (*probe)->look(host.deadline_in(1s)));
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.code, ReasonCode::kMissing);
}

SIM_TEST_SEEDS(SystemdProbe, HostileBusesEndByTheDeadline, 1) {
  const auto outcome_of = [&](const BusManners& manners, ReasonCode reason) {
    SystemdHost node(sim, manners);
    const Observation seen = node.look();
    EXPECT_EQ(seen.outcome, Outcome::kUnknown) << seen.reason.text;
    EXPECT_EQ(seen.reason.code, reason) << seen.reason.text;
    EXPECT_LE(seen.ended - seen.begun, 1s);
  };
  BusManners stopped;
  stopped.accepts = false;
  outcome_of(stopped, ReasonCode::kHung);
  BusManners silent;
  outcome_of(silent, ReasonCode::kHung);
  BusManners refuses;
  refuses.parts = {"REJECTED EXTERNAL\r\n"};
  outcome_of(refuses, ReasonCode::kDenied);
  BusManners stranger;
  stranger.parts = {"SSH-2.0-OpenSSH_9.2\r\n"};
  outcome_of(stranger, ReasonCode::kProtocol);
  BusManners cut = recorded("good");
  cut.parts.back().resize(cut.parts.back().size() / 2);
  cut.hangs_up = true;
  outcome_of(cut, ReasonCode::kClosed);
  BusManners dripping = recorded("good");
  dripping.step = 10;
  outcome_of(dripping, ReasonCode::kHung);
  BusManners endless;
  endless.parts = {"OK 0\r\n", codec::encode({.serial = 9,
                                              .destination = {},
                                              .path = "/a",
                                              .interface = "i.f",
                                              .member = std::string(60000, 'm'),
                                              .arguments = {}})};
  endless.endless_from = 1;
  outcome_of(endless, ReasonCode::kOverLimit);
}

SIM_TEST_SEEDS(SystemdProbe, NamesOfUnits, 1) {
  SimRuntime& host = sim.host("us");
  const auto make = [&](const char* unit) {
    return observe::systemd::make_systemd_probe(host, "unit", {{"unit", unit}}).has_value();
  };
  EXPECT_TRUE(make("bird"));
  EXPECT_TRUE(make("getty@tty1.service"));
  EXPECT_TRUE(make("sys-devices-a\\x2db.device"));
  for (const char* const bad : {"", "a/b", "../etc", "a b", ".hidden", "x\ny"})
    EXPECT_FALSE(make(bad)) << bad;
}

}  // namespace
}  // namespace wardmote::sim
