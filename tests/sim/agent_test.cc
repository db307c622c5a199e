#include "agent/agent.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "codec/json_rpc.h"
#include "net/http_fetch.h"
#include "observe/kinds.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/ovn_captures.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using runtime::Endpoint;
using runtime::Stream;
using runtime::Task;
using sim::SimRuntime;
using sim::World;

constexpr std::uint16_t kPort = 9470;

/// Answers cluster/status with a text, or accepts and says nothing.
struct FakeMember {
  std::string status;
  bool silent = false;
};

Task<void> answer(SimRuntime* host, std::unique_ptr<Stream> stream, const FakeMember* member) {
  const runtime::Deadline never{TimePoint::max()};
  codec::JsonRpcReader reader({});
  for (;;) {
    const auto next = reader.next();
    check(next.has_value(), "the agent speaks no JSON-RPC");
    if (!*next) {
      const auto size = co_await stream->read_some(reader.room(), never);
      if (!size) co_return;
      reader.received(*size);
      continue;
    }
    while (member->silent) co_await host->sleep_until(host->now() + 10ms);
    json::object reply;
    reply["id"] = *(*next)->id;
    reply["result"] = member->status;
    reply["error"] = nullptr;
    const std::string bytes = json::serialize(reply);
    const auto written = co_await stream->write(bytes, never);
    if (!written) co_return;
  }
}

Task<void> be_member(SimRuntime* host, std::string path, const FakeMember* member) {
  auto listener = host->listen(Endpoint::unix_socket(std::move(path)));
  check(listener.has_value(), "a fake member cannot listen");
  for (;;) {
    auto stream = co_await (*listener)->accept();
    if (stream) host->spawn("connection", answer(host, *std::move(stream), member));
  }
}

Task<void> stop(Agent* agent) {
  co_await agent->stop();
}

/// A host with the three members of a real cluster's captures, and an agent beside them.
class Node {
 public:
  explicit Node(World& world) : sim(world) {
    const std::vector<std::string> statuses = testing::statuses_of("01-healthy.txt");
    std::string yaml =
        "api: {listen: 127.0.0.1:9470}\nclusters:\n- name: nb\n  ovn:\n    database: "
        "OVN_Northbound\n    members:\n";
    for (std::size_t i = 0; i < 3; ++i) {
      members[i].status = statuses.at(i);
      const std::string path = fmt::format("/run/ovn/{}.ctl", i);
      us.spawn(path, be_member(&us, path, &members[i]));
      yaml += fmt::format("    - {{name: ctl-{}, control: {}}}\n", i + 1, path);
    }
    auto config = config::parse_config(yaml, observe::probe_kinds());
    check(config.has_value(), "the configuration of the test is not good");
    agent = std::make_unique<Agent>(us, service, *std::move(config), "us");
    const Result<void> started = agent->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Node() {
    if (agent) sim.run(us, stop(agent.get()));
  }

  runtime::HttpResponse get(const std::string& path) {
    auto response = sim::run_task(
        sim, us,
        net::http_fetch(
            us, Endpoint::tcp("127.0.0.1", kPort),
            {.method = "GET", .path = path, .query = {}, .headers = {{"host", "x"}}, .body = {}},
            us.deadline_in(1s)));
    check(response.has_value(), "the agent does not answer");
    return *std::move(response);
  }
  json::object cluster() { return json::parse(get("/api/v1/clusters/nb").body).as_object(); }
  json::object member(std::size_t i) { return cluster().at("members").as_array()[i].as_object(); }
  std::string verdict() { return std::string(cluster().at("verdict").as_string()); }

  World& sim;
  SimRuntime& us = sim.host("us");
  std::array<FakeMember, 3> members;
  ServiceManager service{"", std::nullopt};
  std::unique_ptr<Agent> agent;
};

SIM_TEST_SEEDS(Agent, IsNotReadyUntilItHasSeenAHealthyCluster, 20) {
  Node node(sim);
  EXPECT_EQ(node.get("/readyz").status, 503);
  EXPECT_EQ(node.get("/livez").status, 200);
  sim.run_for(1500ms);
  EXPECT_EQ(node.get("/readyz").status, 200);
  EXPECT_EQ(node.verdict(), "ok");
  sim.trace(static_cast<std::uint64_t>(node.get("/api/v1/status").body.size()));
}

SIM_TEST_SEEDS(Agent, ASilentMemberIsHungAndDelaysNoOther, 20) {
  Node node(sim);
  sim.run_for(3s);
  node.members[2].silent = true;
  sim.run_for(2s);
  EXPECT_EQ(node.member(2).at("outcome"), "fail");
  EXPECT_EQ(node.member(2).at("reason"), "hung");
  // The others are judged in every round, 100 ms after its start at the latest.
  for (int i = 0; i < 40; ++i) {
    sim.run_for(50ms);
    EXPECT_LE(node.member(0).at("age_ms").to_number<int>(), 1120);
    EXPECT_EQ(node.member(0).at("outcome"), "ok");
  }
  // One election round (2 s) after it was first seen, it is a finding and the gate closes.
  sim.run_for(4s);
  EXPECT_EQ(node.verdict(), "critical");
  EXPECT_EQ(node.get("/readyz").status, 503);
  node.members[2].silent = false;
  sim.run_for(2s);
  EXPECT_EQ(node.verdict(), "ok");
  EXPECT_EQ(node.get("/readyz").status, 200);
}

SIM_TEST_SEEDS(Agent, BlamesNobodyForItsOwnPause, 20) {
  Node node(sim);
  sim.run_for(3s + Duration(static_cast<Duration::rep>(sim.random().below(1'000'000'000))));
  node.us.pause_for(7s);
  sim.run_for(7s);
  for (int i = 0; i < 30; ++i) {
    EXPECT_NE(node.verdict(), "critical");
    EXPECT_TRUE(node.cluster().at("findings").as_array().empty());
    EXPECT_EQ(node.get("/readyz").status, 200);
    sim.run_for(100ms);
  }
  EXPECT_EQ(json::parse(node.get("/api/v1/status").body).at("self").at("degraded"), true);
  sim.run_for(10s);
  EXPECT_EQ(json::parse(node.get("/api/v1/status").body).at("self").at("degraded"), false);
}

SIM_TEST_SEEDS(Agent, EndsInTimeWhateverItsClientsAndMembersDo, 20) {
  Node node(sim);
  sim.run_for(2s);
  node.members[0].silent = true;
  // A client that connects and never asks.
  constexpr auto idle = [](SimRuntime* host) -> Task<void> {
    auto stream = co_await host->connect(Endpoint::tcp("127.0.0.1", kPort), host->deadline_in(1s));
    EXPECT_TRUE(stream);
    co_await host->sleep_until(TimePoint::max());
  };
  node.us.spawn("idle client", idle(&node.us));
  sim.run_for(300ms);
  const TimePoint told = sim.now();
  sim.run(node.us, stop(node.agent.get()));
  EXPECT_LE(sim.now() - told, 1500ms);
  node.agent.reset();
}

}  // namespace
}  // namespace wardmote::agent
