// The metrics of an etcd member beside what it says itself: whatever comes of them, that it answers
// stays known, and in time. What a real etcd serves is read in tests/unit/codec and
// tests/integration.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "codec/grpc.h"
#include "codec/url.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "judge/outcome.h"
#include "observe/etcd/member_client.h"
#include "observe/etcd/metrics_client.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_grpc.h"
#include "support/fake_web.h"
#include "support/test_data.h"

namespace wardmote::sim {
namespace {

using judge::ReasonCode;
using judge::etcd::MemberFacts;
using judge::etcd::MetricsReport;
using runtime::Endpoint;
using testing::FakeGrpc;
using testing::FakeWeb;
using testing::GrpcManners;
using namespace std::chrono_literals;

std::string capture() {
  std::ifstream file(std::filesystem::path(WARDMOTE_TEST_DATA) / "etcd/metrics-3.4.23.txt");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string answer(std::string_view body, int status = 200) {
  return fmt::format("HTTP/1.1 {} Some\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

/// To each call: nothing that differs from a default, which is a member without a leader.
GrpcManners answering() {
  GrpcManners manners;
  manners.frames = {FakeGrpc::headers({{":status", "200"}, {"content-type", "application/grpc"}}),
                    {{0, 0, 0, codec::encode_grpc_message("")}},
                    FakeGrpc::headers({{"grpc-status", "0"}}, true)};
  return manners;
}

/// A gRPC server and a web server in the place of an etcd member.
class EtcdHost {
 public:
  explicit EtcdHost(World& world, GrpcManners manners = answering()) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    server = std::make_unique<FakeGrpc>(host, spawn, Endpoint::tcp("db", 2379), std::move(manners));
    web = std::make_unique<FakeWeb>(host, spawn, Endpoint::tcp("db", 2381));
    web->answers = {answer(capture())};
  }

  Result<MemberFacts> look(Duration patience = 1s) {
    const runtime::Deadline deadline = us.deadline_in(patience);
    const Result<MemberFacts> facts = run_task(sim, us, client.look(deadline));
    EXPECT_LE(sim.now(), deadline.at);
    return facts;
  }
  /// Of a look at which the member itself answers.
  MetricsReport metrics() {
    const Result<MemberFacts> facts = look();
    EXPECT_TRUE(facts) << (facts ? "" : facts.error().describe());
    EXPECT_TRUE(facts && facts->metrics);
    return facts && facts->metrics ? *facts->metrics : MetricsReport{};
  }

  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("db");
  std::unique_ptr<FakeGrpc> server;
  std::unique_ptr<FakeWeb> web;
  observe::etcd::MemberClient client{
      us, Endpoint::tcp("db", 2379),
      observe::etcd::MetricsTarget{.url = *codec::parse_url("http://db:2381/metrics"),
                                   .at = Endpoint::tcp("db", 2381)}};

 private:
  Curfew ends_ = Curfew(host);
};

SIM_TEST_SEEDS(SimEtcdMetrics, AreReadBesideTheStatus, 5) {
  EtcdHost etcd(sim);
  for (const std::size_t step : {0U, 700U}) {
    etcd.web->step = step;
    const MetricsReport report = etcd.metrics();
    ASSERT_TRUE(report.metrics) << report.reason.text;
    EXPECT_EQ(report.metrics->wal_fsync->count(), 5U);
    EXPECT_EQ(report.metrics->backend_commit->count(), 6U);
    EXPECT_EQ(report.metrics->pending, 0U);
    EXPECT_EQ(report.metrics->committed, 4U);
    EXPECT_EQ(report.metrics->applied, 4U);
    EXPECT_EQ(report.metrics->failed, 0U);
    EXPECT_TRUE(report.metrics->process_start);
    EXPECT_EQ(report.reason.code, ReasonCode::kNone);
    sim.run_for(6s);
  }
  EXPECT_TRUE(
      etcd.web->requests().front().starts_with("GET /metrics HTTP/1.1\r\nHost: db:2381\r\n"))
      << etcd.web->requests().front();
}

SIM_TEST(SimEtcdMetrics, AreNotReadAtEachLook) {
  EtcdHost etcd(sim);
  const TimePoint taken = etcd.metrics().taken;
  for (int i = 0; i < 4; ++i) {
    sim.run_for(1s);
    EXPECT_EQ(etcd.metrics().taken, taken) << i;
  }
  EXPECT_EQ(etcd.web->requests().size(), 1U);
  sim.run_for(2s);
  EXPECT_GT(etcd.metrics().taken, taken);
  EXPECT_EQ(etcd.web->requests().size(), 2U);
}

SIM_TEST(SimEtcdMetrics, WhatIsNoneIsUnknownWithItsReasonAndTheMemberAnswersAllTheSame) {
  const std::string whole = capture();
  const std::pair<std::string, ReasonCode> cases[] = {
      {answer("", 404), ReasonCode::kRejected},
      {answer(whole, 403), ReasonCode::kDenied},
      {answer("<html>\n"), ReasonCode::kProtocol},
      {answer(whole.substr(0, whole.size() - 1)), ReasonCode::kProtocol},
      {answer(whole + "etcd_server_proposals_pending NaN\n"), ReasonCode::kProtocol},
      {answer("etcd_server_proposals_pending -1\n"), ReasonCode::kProtocol},
      {answer(std::string((1 << 20) + 1, '\n')), ReasonCode::kOverLimit},
      {answer(whole).substr(0, 2000), ReasonCode::kClosed},
      {"SSH-2.0-x\r\n\r\n", ReasonCode::kProtocol},
  };
  for (const auto& [bytes, reason] : cases) {
    EtcdHost etcd(sim);
    etcd.web->answers = {bytes};
    const MetricsReport report = etcd.metrics();
    EXPECT_FALSE(report.metrics) << bytes.substr(0, 60);
    EXPECT_EQ(report.reason.code, reason) << report.reason.text;
    EXPECT_TRUE(report.reason.text.contains("http://db:2381/metrics")) << report.reason.text;
  }
}

SIM_TEST(SimEtcdMetrics, AServerThatDoesNotComeToAnEndHoldsNothingUp) {
  EtcdHost etcd(sim);
  etcd.web->step = 100;
  etcd.web->pause = 1s;
  EXPECT_EQ(etcd.metrics().reason.code, ReasonCode::kHung);
}

SIM_TEST(SimEtcdMetrics, OfAMemberThatDoesNotAnswerItselfNothingIsSaid) {
  EtcdHost etcd(sim, GrpcManners{.accepts = false});
  const Result<MemberFacts> facts = etcd.look();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, Errc::kTimeout);
}

}  // namespace
}  // namespace wardmote::sim
