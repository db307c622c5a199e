#include "observe/tcp_probe.h"

#include <gtest/gtest.h>

#include <chrono>

#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using observe::Probe;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Task;
using namespace std::chrono_literals;

/// Listens and leaves all connections to its kernel.
Task<void> listen_only(SimRuntime* host, Endpoint at) {
  const Result<std::unique_ptr<Listener>> listener = host->listen(at);
  co_await host->sleep_until(TimePoint::max());
}

Observation look(World& sim, SimRuntime& from, const std::string& address) {
  const auto probe = observe::make_tcp_probe(from, "raft", {{"address", address}});
  check(probe.has_value(), "no probe");
  return run_task(sim, from, (*probe)->look(from.deadline_in(1s)));
}

SIM_TEST(TcpProbe, TellsAListenerFromNobodyAndFromSilence) {
  SimRuntime& us = sim.host("us");
  SimRuntime& server = sim.host("server");
  server.spawn("listener", listen_only(&server, Endpoint::tcp("server", 6643)));
  sim.run_for(1ms);

  const Observation open = look(sim, us, "server:6643");
  EXPECT_EQ(open.outcome, Outcome::kOk);
  EXPECT_EQ(open.subject, "raft");
  const auto* const facts = std::get_if<judge::TcpFacts>(&open.facts);
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->connect_time, open.ended - open.begun);
  EXPECT_GT(facts->connect_time, 0ms);

  const Observation closed = look(sim, us, "server:6644");
  EXPECT_EQ(closed.outcome, Outcome::kFail);
  EXPECT_EQ(closed.reason.code, ReasonCode::kRefused);

  sim.network().isolate("server");
  const Observation silent = look(sim, us, "server:6643");
  EXPECT_EQ(silent.outcome, Outcome::kFail);
  EXPECT_EQ(silent.reason.code, ReasonCode::kUnreachable);
  EXPECT_EQ(silent.ended - silent.begun, 1s) << "the deadline, and not later";
}

SIM_TEST_SEEDS(TcpProbe, OurOwnPovertyIsUnknown, 1) {
  SimRuntime& us = sim.host("us");
  sim.host("server");
  us.exhaust_descriptors(true);
  const Observation poor = look(sim, us, "server:6643");
  EXPECT_EQ(poor.outcome, Outcome::kUnknown);
  EXPECT_EQ(poor.reason.code, ReasonCode::kProberStarved);
}

SIM_TEST_SEEDS(TcpProbe, TakesTcpAddressesOnly, 1) {
  SimRuntime& us = sim.host("us");
  const auto make = [&](std::string address) {
    return observe::make_tcp_probe(us, "raft", {{"address", std::move(address)}});
  };
  EXPECT_TRUE(make("[fd00::1]:179").has_value());
  EXPECT_EQ(make("unix:/run/x.sock").error().code, Errc::kInvalid);
  EXPECT_EQ(make("nowhere").error().code, Errc::kInvalid);
}

}  // namespace
}  // namespace wardmote::sim
