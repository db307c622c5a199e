// The probes of the daemons beside OVN's databases, and of a member of etcd, against peers that
// hang, end, start anew and talk nonsense. What the real ones say is tried in tests/integration.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/etcd/etcd_probe.h"
#include "observe/kinds.h"
#include "observe/ovn/controller_probe.h"
#include "observe/ovn/host_probe.h"
#include "observe/ovn/northd_probe.h"
#include "observe/probe.h"
#include "runtime/files.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_grpc.h"
#include "support/fake_server.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using observe::Params;
using observe::Probe;
using runtime::Endpoint;
using testing::FakeGrpc;
using testing::FakeManners;
using testing::FakeServer;
using testing::GrpcManners;
using namespace std::chrono_literals;

/// A daemon with a pid file, as ovn-ctl starts it, and the probe of its kind.
class Daemon {
 public:
  Daemon(World& world, std::string name,
         Result<std::unique_ptr<Probe>> (*make)(runtime::Runtime&, std::string, const Params&))
      : sim(world), name_(std::move(name)) {
    auto made = make(host, name_, {{"control", fmt::format("/run/ovn/{}.pid", name_)}});
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }

  void start(int pid, FakeManners manners) {
    pid_ = pid;
    host.files().put("/proc/1/stat", "");  // there are others
    host.files().put(
        fmt::format("/proc/{}/stat", pid),
        fmt::format("{} ({}) S 1 1 1 0 -1 0 0 0 0 0 10 10 0 0 20 0 1 0 100 0 0", pid, name_));
    host.files().put(fmt::format("/run/ovn/{}.pid", name_), fmt::format("{}\n", pid));
    // The tasks of an earlier one still run.
    servers_.push_back(serve(host,
                             Endpoint::unix_socket(fmt::format("/run/ovn/{}.{}.ctl", name_, pid)),
                             std::move(manners)));
    server = servers_.back().get();
  }
  /// kill -9: its pid file stays.
  void kill() {
    host.files().remove(fmt::format("/proc/{}/stat", pid_));
    server->hang_up();
  }

  Observation look() {
    const runtime::Deadline deadline = host.deadline_in(900ms);
    const Observation seen = run_task(sim, host, probe->look(deadline));
    EXPECT_LE(sim.now(), deadline.at);
    return seen;
  }

  World& sim;
  SimRuntime& host = sim.host("ctl-1");
  FakeServer* server = nullptr;
  std::unique_ptr<Probe> probe;

 private:
  std::vector<std::unique_ptr<FakeServer>> servers_;
  std::string name_;
  int pid_ = 0;
  Curfew ends_ = Curfew(host);
};

FakeManners northd(std::string status) {
  FakeManners manners;
  manners.results["status"] = "\"Status: " + std::move(status) + "\\n\"";
  manners.results["nb-connection-status"] = R"("connected\n")";
  manners.results["sb-connection-status"] = R"("connected\n")";
  return manners;
}

SIM_TEST(SimNorthdProbe, IsFoundByItsPidFileAndFoundAgainAfterARestart) {
  Daemon daemon(sim, "ovn-northd", observe::ovn::make_northd_probe);
  EXPECT_EQ(daemon.look().reason.code, ReasonCode::kMissing) << "no pid file";
  daemon.start(41, northd("active"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(daemon.look().outcome, Outcome::kOk);
  EXPECT_LE(daemon.server->connections(), 8) << "connections stay open";
  daemon.kill();
  EXPECT_EQ(daemon.look().reason.code, ReasonCode::kMissing) << "a pid file without a process";
  daemon.start(52, northd("standby"));
  const Observation seen = daemon.look();
  EXPECT_EQ(seen.outcome, Outcome::kOk);
  EXPECT_EQ(seen.reason.text, "standby");
}

SIM_TEST(SimNorthdProbe, OneThatHangsIsHungAndOneThatTalksNonsenseIsUnknown) {
  Daemon daemon(sim, "ovn-northd", observe::ovn::make_northd_probe);
  FakeManners silent;
  silent.accepts = false;
  daemon.start(41, silent);
  EXPECT_EQ(daemon.look().reason.code, ReasonCode::kHung);
  daemon.start(42, northd("dreaming"));
  EXPECT_EQ(daemon.look().outcome, Outcome::kUnknown);
  EXPECT_EQ(daemon.look().reason.code, ReasonCode::kProtocol);
  FakeManners cut;
  cut.raw = R"({"id":{ID},"result":"Status: act)";
  cut.closes_after = 1;
  daemon.start(43, cut);
  EXPECT_EQ(daemon.look().outcome, Outcome::kUnknown) << "cut off is not active";
}

SIM_TEST(SimNorthdProbe, AnOldOneThatDoesNotSayIsJudgedByItsStateAlone) {
  Daemon daemon(sim, "ovn-northd", observe::ovn::make_northd_probe);
  FakeManners old;
  old.results["status"] = R"("Status: active\n")";
  daemon.start(41, old);
  EXPECT_EQ(daemon.look().outcome, Outcome::kOk);
  FakeManners older;
  older.results["version"] = R"("x")";
  daemon.start(42, older);
  EXPECT_EQ(daemon.look().outcome, Outcome::kUnknown) << "it knows no status";
}

SIM_TEST(SimControllerProbe, AConnectionThatComesAndGoesIsToldWhileItIsThere) {
  Daemon daemon(sim, "ovn-controller", observe::ovn::make_controller_probe);
  FakeManners manners;
  manners.results["connection-status"] = R"("connected\n")";
  manners.results["debug/status"] = R"("running\n")";
  daemon.start(41, manners);
  EXPECT_EQ(daemon.look().outcome, Outcome::kOk);
  for (int i = 0; i < 4; ++i) {
    daemon.server->manners().results["connection-status"] = R"("not connected\n")";
    EXPECT_EQ(daemon.look().outcome, Outcome::kFail);
    daemon.server->manners().results["connection-status"] = R"("connected\n")";
    const Observation seen = daemon.look();
    EXPECT_EQ(seen.outcome, i < 3 ? Outcome::kOk : Outcome::kFail) << i;
  }
  sim.run_for(6min);
  EXPECT_EQ(daemon.look().outcome, Outcome::kOk) << "long ago";
}

SIM_TEST(SimHostProbe, AHostThatShowsNoDiskIsUnknown) {
  SimRuntime& host = sim.host("ctl-1");
  const auto probe =
      observe::ovn::make_host_probe(host, "db", {{"database", "/var/lib/ovn/nb.db"}});
  ASSERT_TRUE(probe);
  EXPECT_EQ(run_task(sim, host, (*probe)->look(host.deadline_in(1s))).reason.code,
            ReasonCode::kMissing);
  host.files().put("/var/lib/ovn/nb.db", "OVSDB JSON 2 x");
  EXPECT_EQ(run_task(sim, host, (*probe)->look(host.deadline_in(1s))).reason.code,
            ReasonCode::kDenied);
  host.files().refuse("/var/lib/ovn/nb.db", Errc::kTimeout);
  EXPECT_EQ(run_task(sim, host, (*probe)->look(host.deadline_in(1s))).reason.code,
            ReasonCode::kHung);
}

SIM_TEST(SimHostProbe, ShowsTheSpaceThatIsLeft) {
  SimRuntime& host = sim.host("ctl-1");
  const auto probe =
      observe::ovn::make_host_probe(host, "db", {{"database", "/var/lib/ovn/nb.db"}});
  ASSERT_TRUE(probe);
  host.files().put("/var/lib/ovn/nb.db", fmt::format("OVSDB JSON 2 {:040}\n{{}}\n", 0));
  const auto look = [&](std::uint64_t percent) {
    host.files().set_space(runtime::DiskSpace{percent, 100, 100, 100});
    return run_task(sim, host, (*probe)->look(host.deadline_in(1s))).outcome;
  };
  EXPECT_EQ(look(50), Outcome::kOk);
  EXPECT_EQ(look(9), Outcome::kWarn);
  EXPECT_EQ(look(2), Outcome::kFail);
}

SIM_TEST(SimHostProbe, TellsTheLastComplaintInTheEndOfALongLog) {
  SimRuntime& host = sim.host("ctl-1");
  const auto probe = observe::ovn::make_host_probe(host, "db",
                                                   {{"database", "/var/lib/ovn/nb.db"},
                                                    {"log", "/var/log/ovn/nb.log"},
                                                    {"pid_file", "/run/ovn/nb.pid"}});
  ASSERT_TRUE(probe);
  host.files().put("/var/lib/ovn/nb.db", fmt::format("OVSDB JSON 2 {:040}\n{{}}\n", 0));
  host.files().put("/var/log/ovn/nb.log",
                   std::string(40'000, 'x') + "\n1|ovsdb|INFO|well\n2|raft|WARN|ill\n");
  host.files().set_space(runtime::DiskSpace{50, 100, 100, 100});
  const Observation seen = run_task(sim, host, (*probe)->look(host.deadline_in(1s)));
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(seen.reason.text, "the server has ended: 2|raft|WARN|ill");
}

/// A gRPC server in the place of an etcd member.
class EtcdHost {
 public:
  EtcdHost(World& world, GrpcManners manners) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    server = std::make_unique<FakeGrpc>(host, spawn, Endpoint::tcp("db", 2379), std::move(manners));
    auto made = observe::etcd::make_etcd_probe(us, "db", {{"endpoint", "db:2379"}});
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }

  Observation look() {
    const runtime::Deadline deadline = us.deadline_in(1s);
    const Observation seen = run_task(sim, us, probe->look(deadline));
    EXPECT_LE(sim.now(), deadline.at);
    return seen;
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("db");
  std::unique_ptr<FakeGrpc> server;
  std::unique_ptr<Probe> probe;

 private:
  Curfew ends_ = Curfew(host);
};

/// The same answer to each call.
GrpcManners answering(std::string message) {
  GrpcManners manners;
  manners.frames = {FakeGrpc::headers({{":status", "200"}, {"content-type", "application/grpc"}}),
                    {{0, 0, 0, std::move(message)}},
                    FakeGrpc::headers({{"grpc-status", "0"}}, true)};
  return manners;
}

SIM_TEST(SimEtcdProbe, AMemberThatSaysNothingOfALeaderHasNone) {
  EtcdHost etcd(sim, answering(codec::encode_grpc_message("")));
  const Observation seen = etcd.look();
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(seen.reason.text, "knows no leader");
  for (int i = 0; i < 8; ++i) etcd.look();
  EXPECT_EQ(etcd.server->connections(), 1) << "the connection stays open";
}

SIM_TEST(SimEtcdProbe, HalfAMessageOrNoneIsUnreadableAndNeverGood) {
  const std::string whole = codec::encode_grpc_message(
      "\x12\x06"
      "3.4.23");
  for (const std::string& message : {std::string(), whole.substr(0, 7), whole + whole}) {
    EtcdHost etcd(sim, answering(message));
    EXPECT_EQ(etcd.look().outcome, Outcome::kUnknown) << message.size();
  }
}

SIM_TEST(SimEtcdProbe, OneThatIsStoppedIsHung) {
  GrpcManners stopped;
  stopped.accepts = false;
  EtcdHost hung(sim, stopped);
  EXPECT_EQ(hung.look().reason.code, ReasonCode::kHung);
}

SIM_TEST(SimEtcdProbe, AMemberWithoutTheRightForUsIsDenied) {
  GrpcManners manners;
  manners.frames = {FakeGrpc::headers(
      {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "7"}}, true)};
  EtcdHost etcd(sim, manners);
  EXPECT_EQ(etcd.look().reason.code, ReasonCode::kDenied);
}

}  // namespace
}  // namespace wardmote::sim
