#include "observe/grpc/grpc_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "runtime/task_group.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_grpc.h"

namespace wardmote::sim {
namespace {

using judge::GrpcFacts;
using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using judge::Serving;
using observe::Params;
using observe::Probe;
using runtime::Endpoint;
using testing::FakeGrpc;
using testing::GrpcManners;
using testing::hpack_text;
using testing::kEndHeaders;
using namespace std::chrono_literals;

class GrpcHost {
 public:
  GrpcHost(World& world, GrpcManners manners) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    server = std::make_unique<FakeGrpc>(host, spawn, Endpoint::tcp("db", 2379), std::move(manners));
    auto made = observe::grpc::make_grpc_probe(us, "db", {{"address", "db:2379"}});
    check(made.has_value(), made ? "" : made.error().describe());
    probe = *std::move(made);
  }

  Observation look() { return run_task(sim, us, probe->look(us.deadline_in(1s))); }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("db");
  std::unique_ptr<FakeGrpc> server;
  std::unique_ptr<Probe> probe;

 private:
  Curfew ends_ = Curfew(host);
};

GrpcManners serving(char status) {
  GrpcManners manners;
  manners.frames = FakeGrpc::serving(status);
  return manners;
}

SIM_TEST_SEEDS(GrpcProbe, ServersThatSayHowTheyAre, 20) {
  const Observation good = GrpcHost(sim, serving(1)).look();
  EXPECT_EQ(good.outcome, Outcome::kOk) << good.reason.text;
  EXPECT_EQ(std::get<GrpcFacts>(good.facts).serving, Serving::kServing);
  EXPECT_GT(std::get<GrpcFacts>(good.facts).answer_time, 0ms);
  EXPECT_EQ(GrpcHost(sim, serving(2)).look().outcome, Outcome::kFail);
  EXPECT_EQ(GrpcHost(sim, serving(0)).look().outcome, Outcome::kUnknown);
  EXPECT_EQ(GrpcHost(sim, serving(3)).look().reason.code, ReasonCode::kMissing);
  EXPECT_EQ(GrpcHost(sim, serving(9)).look().reason.code, ReasonCode::kProtocol);
}

SIM_TEST_SEEDS(GrpcProbe, KeepsItsConnectionUntilTheServerGoesAway, 5) {
  {
    GrpcHost node(sim, serving(1));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(node.look().outcome, Outcome::kOk);
    EXPECT_EQ(node.server->connections(), 1);
    EXPECT_EQ(node.server->calls(), 5);
  }

  GrpcManners leaving = serving(1);
  // RFC 9113 6.8: up to stream 2^31-1, without an error.
  leaving.frames.insert(leaving.frames.begin(),
                        {{7, 0, 0, std::string("\x7f\xff\xff\xff\0\0\0\0", 8)}, false});
  GrpcHost other(sim, leaving);
  EXPECT_EQ(other.look().outcome, Outcome::kOk) << "it still answers what came before";
  EXPECT_EQ(other.look().outcome, Outcome::kOk);
  EXPECT_EQ(other.server->connections(), 2);
}

SIM_TEST_SEEDS(GrpcProbe, AnErrorOfTheCallIsAnAnswer, 1) {
  GrpcManners manners;
  manners.frames = {FakeGrpc::headers({{":status", "200"},
                                       {"content-type", "application/grpc"},
                                       {"grpc-status", "12"},
                                       {"grpc-message", "unknown service grpc.health.v1.Health"}},
                                      true)};
  const Observation seen = GrpcHost(sim, manners).look();
  EXPECT_EQ(seen.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.reason.text,
            "it does not have the health service (UNIMPLEMENTED: unknown service "
            "grpc.health.v1.Health)");
}

SIM_TEST_SEEDS(GrpcProbe, PingsSettingsAndUnknownFramesAreNoTrouble, 3) {
  GrpcManners manners = serving(1);
  manners.frames.insert(manners.frames.begin(), {{6, 0, 0, "12345678"}, false});
  manners.frames.insert(manners.frames.begin(), {{0xfa, 0, 0, "of years to come"}, false});
  manners.frames.insert(manners.frames.begin() + 2, {{8, 0, 0, std::string("\0\0\1\0", 4)}, false});
  EXPECT_EQ(GrpcHost(sim, manners).look().outcome, Outcome::kOk);
}

SIM_TEST_SEEDS(GrpcProbe, HostileServersEndByTheDeadlineAndAreNeverGood, 1) {
  const auto reason_of = [&](GrpcManners manners) {
    GrpcHost node(sim, std::move(manners));
    const Observation seen = node.look();
    EXPECT_NE(seen.outcome, Outcome::kOk) << seen.reason.text;
    EXPECT_LE(seen.ended - seen.begun, 1s) << seen.reason.text;
    return seen.reason.code;
  };
  GrpcManners stopped;
  stopped.accepts = false;
  EXPECT_EQ(reason_of(stopped), ReasonCode::kHung);
  EXPECT_EQ(reason_of({}), ReasonCode::kHung) << "settings, and nothing more";
  GrpcManners web;
  web.raw = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(reason_of(web), ReasonCode::kProtocol);
  GrpcManners dripping = serving(1);
  dripping.step = 1;
  EXPECT_EQ(reason_of(dripping), ReasonCode::kHung);
  GrpcManners cut = serving(1);
  cut.frames.pop_back();
  cut.hangs_up = true;
  EXPECT_EQ(reason_of(cut), ReasonCode::kClosed) << "SERVING, but the call did not end";
  GrpcManners trailers = serving(1);
  trailers.frames.back() = FakeGrpc::headers({{"x", "y"}}, true);
  EXPECT_EQ(reason_of(trailers), ReasonCode::kProtocol) << "no grpc-status";
  for (const char* status : {"-0", "00", "+0"}) {
    trailers.frames.back() = FakeGrpc::headers({{"grpc-status", status}}, true);
    EXPECT_EQ(reason_of(trailers), ReasonCode::kProtocol) << status;
  }
  trailers.frames.back() = FakeGrpc::headers({{"grpc-status", "0"}, {"grpc-status", "14"}}, true);
  EXPECT_EQ(reason_of(trailers), ReasonCode::kProtocol) << "which of them?";
  trailers = serving(1);
  trailers.frames.front() = FakeGrpc::headers(
      {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "14"}});
  EXPECT_EQ(reason_of(trailers), ReasonCode::kProtocol) << "which of them?";
  GrpcManners flood;
  flood.frames = {{{6, 0, 0, "12345678"}, false}};
  flood.endless = true;
  EXPECT_EQ(reason_of(flood), ReasonCode::kOverLimit);
  GrpcManners continuations;
  continuations.frames.assign(3000, {{9, 0, 0, ""}});
  continuations.frames.front() = {{1, 0, 0, "\x88"}};
  EXPECT_EQ(reason_of(continuations), ReasonCode::kOverLimit);
  GrpcManners bomb;  // RFC 7541 6.1: the same large field again and again, a byte each time
  bomb.frames = {{{1, kEndHeaders, 0,
                   "\x88\x40" + hpack_text("x") + hpack_text(std::string(3000, 'x')) +
                       std::string(100, '\xbe')}}};
  EXPECT_EQ(reason_of(bomb), ReasonCode::kOverLimit);
  GrpcManners large;
  large.frames = {FakeGrpc::headers({{":status", "200"}, {"content-type", "application/grpc"}}),
                  {{0, 0, 0, std::string(16000, 'x')}}};
  EXPECT_EQ(reason_of(large), ReasonCode::kOverLimit);
  GrpcManners reset;
  reset.frames = {{{3, 0, 0, std::string("\0\0\0\x07", 4)}}};
  EXPECT_EQ(reason_of(reset), ReasonCode::kRejected);
  GrpcManners proxy;
  proxy.frames = {FakeGrpc::headers({{":status", "502"}, {"content-type", "text/html"}}, true)};
  EXPECT_EQ(reason_of(proxy), ReasonCode::kRejected);
}

SIM_TEST_SEEDS(GrpcProbe, ALookThatWasCutOffDoesNotSpoilTheNext, 5) {
  GrpcHost node(sim, serving(1));
  EXPECT_EQ(node.look().outcome, Outcome::kOk);
  node.host.pause();
  {
    runtime::TaskGroup looks(node.us.executor());
    constexpr auto look = [](Probe* probe, runtime::Deadline deadline) -> runtime::Task<void> {
      const Observation seen = co_await probe->look(deadline);
      ADD_FAILURE() << seen.reason.text;
    };
    looks.spawn("look", look(node.probe.get(), node.us.deadline_in(1s)));
    sim.run_for(100ms);
    sim.run(node.us, looks.stop());
  }
  node.host.resume();
  const Observation seen = node.look();
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
}

SIM_TEST_SEEDS(GrpcProbe, ParametersThatDoNotGoTogether, 1) {
  SimRuntime& us = sim.host("us");
  const auto makes = [&](const Params& params) {
    return observe::grpc::make_grpc_probe(us, "db", params).has_value();
  };
  EXPECT_TRUE(makes({{"address", "/run/db.sock"}, {"service", "db.Store"}}));
  EXPECT_TRUE(makes({{"address", "ssl:db:2379"}, {"verify", "none"}}));
  EXPECT_FALSE(makes({{"address", "db:2379"}, {"verify", "none"}}));
  EXPECT_FALSE(makes({{"address", "db:2379"}, {"tls_ca", "/etc/ca.pem"}}));
  EXPECT_FALSE(makes({{"address", "db:2379"}, {"service", "two words"}}));
}

}  // namespace
}  // namespace wardmote::sim
