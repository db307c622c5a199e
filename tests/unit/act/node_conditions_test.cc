// tests/integration/test_node_conditions.py asks a real kube-apiserver.
#include "act/kubernetes/node_conditions.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "judge/node_condition.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "unit/act/fake_tree.h"
#include "unit/act/kube_target_fixture.h"

namespace wardmote::act::kubernetes {
namespace {

namespace json = boost::json;
using judge::ConditionStatus;
using judge::NodeCondition;
using namespace std::chrono_literals;

/// One Node, whose conditions are merged by their types.
class FakeNode final : public runtime::HttpClient {
 public:
  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall call,
                                                    runtime::Deadline) override {
    if (silent) co_return fail(Errc::kUnreachable, "no route");
    if (call.method == "GET") {
      if (!call.url.ends_with("/api/v1/nodes/n1"))
        co_return runtime::HttpResponse{.status = 404, .body = "{}"};
      json::object node{{"kind", "Node"}, {"metadata", {{"name", "n1"}}}};
      node["status"] = json::object{{"conditions", conditions}};
      co_return runtime::HttpResponse{.status = 200, .body = json::serialize(node)};
    }
    ++patches;
    const json::value patch = json::parse(call.body);
    for (const json::value& one : patch.at("status").at("conditions").as_array())
      merge(one.as_object());
    if (loses_answers) co_return fail(Errc::kTimeout, "no answer");
    co_return runtime::HttpResponse{.status = 200, .body = "{}"};
  }

  void merge(const json::object& item) {
    for (std::size_t at = 0; at < conditions.size(); ++at) {
      if (conditions[at].at("type") != item.at("type")) continue;
      conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    }
    if (!item.contains("$patch")) conditions.push_back(item);
  }
  [[nodiscard]] std::string get(std::string_view type, std::string_view key = "status") const {
    for (const json::value& one : conditions) {
      if (one.at("type").as_string() == type) return std::string(one.at(key).as_string());
    }
    return "none";
  }

  json::array conditions;
  int patches = 0;
  bool silent = false;
  bool loses_answers = false;  ///< what is written is, and nobody hears of it
};

class NodeConditionsTest : public ::testing::Test {
 protected:
  NodeConditionsTest() {
    node.merge({{"type", "Ready"}, {"status", "True"}});
    agent = make();
  }
  ~NodeConditionsTest() override {
    if (agent) world.run(us, agent->stop());
  }
  std::unique_ptr<NodeConditions> make() {
    auto tree = std::make_unique<reconcile::FakeTree>();
    tree->files["/k/config"] = reconcile::kKubeconfig;
    tree->files["/k/token"] = "one\n";
    NodeConditionsOptions options{
        .node = name, .login = {.kubeconfig = "/k/config"}, .heartbeat = 5min};
    return std::make_unique<NodeConditions>(us, node, std::move(tree), std::move(options));
  }
  void start() {
    agent->start([this] { return now; });
    world.run_for(2s);
  }
  void set(ConditionStatus status, std::string message = "m") {
    now = {
        {.type = "BGPUnhealthy", .status = status, .reason = "R", .message = std::move(message)}};
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  std::string name = "n1";
  FakeNode node;
  std::vector<NodeCondition> now;
  std::unique_ptr<NodeConditions> agent;
};

TEST_F(NodeConditionsTest, AStatusIsWrittenWhenItChangesAndOthersAreLeftAlone) {
  set(ConditionStatus::kFalse);
  start();
  EXPECT_EQ(node.get("BGPUnhealthy"), "False");
  const std::string since = node.get("BGPUnhealthy", "lastTransitionTime");
  world.run_for(2s);
  EXPECT_EQ(node.patches, 1);
  set(ConditionStatus::kTrue);
  world.run_for(2s);
  EXPECT_EQ(node.get("BGPUnhealthy"), "True");
  EXPECT_NE(node.get("BGPUnhealthy", "lastTransitionTime"), since);
  EXPECT_EQ(node.get("Ready"), "True");
  EXPECT_EQ(node.patches, 2);
}

TEST_F(NodeConditionsTest, AHeartbeatSaysThatTheStatusStillHolds) {
  set(ConditionStatus::kTrue);
  start();
  const std::string since = node.get("BGPUnhealthy", "lastTransitionTime");
  world.run_for(5min);
  EXPECT_EQ(node.patches, 2);
  EXPECT_EQ(node.get("BGPUnhealthy", "lastTransitionTime"), since);
  EXPECT_NE(node.get("BGPUnhealthy", "lastHeartbeatTime"), since);
}

TEST_F(NodeConditionsTest, WordsThatChangeEachSecondAreNotWrittenEachSecond) {
  int looks = 0;
  agent->start([&looks] {
    return std::vector<NodeCondition>{{.type = "BGPUnhealthy",
                                       .status = ConditionStatus::kTrue,
                                       .reason = "R",
                                       .message = std::to_string(++looks)}};
  });
  world.run_for(3min);
  EXPECT_LE(node.patches, 4);
  EXPECT_GE(node.patches, 3);
}

TEST_F(NodeConditionsTest, ThePreviousAgentsConditionGoesOn) {
  set(ConditionStatus::kTrue);
  start();
  const std::string since = node.get("BGPUnhealthy", "lastTransitionTime");
  const json::array before = node.conditions;
  world.run(us, agent->stop());
  node.conditions = before;  // as if it had been killed
  agent = make();
  start();
  EXPECT_EQ(node.get("BGPUnhealthy"), "True");
  EXPECT_EQ(node.get("BGPUnhealthy", "lastTransitionTime"), since);
}

TEST_F(NodeConditionsTest, AServerThatDoesNotAnswerIsAskedAgain) {
  set(ConditionStatus::kTrue);
  node.silent = true;
  start();
  world.run_for(30s);
  node.silent = false;
  world.run_for(20s);
  EXPECT_EQ(node.get("BGPUnhealthy"), "True");
}

TEST_F(NodeConditionsTest, OfTwoWritersOneYieldsAndComesBackWhenTheOtherIsSilent) {
  set(ConditionStatus::kFalse);
  start();
  const json::object theirs{{"type", "BGPUnhealthy"},
                            {"status", "True"},
                            {"lastTransitionTime", "2020-01-01T00:00:00Z"},
                            {"lastHeartbeatTime", "2020-01-01T00:00:00Z"}};
  node.merge(theirs);
  world.run_for(6min);
  EXPECT_EQ(node.get("BGPUnhealthy"), "True") << "it is somebody else's";
  EXPECT_EQ(node.patches, 1);
  world.run_for(16min);
  EXPECT_EQ(node.get("BGPUnhealthy"), "False") << "the other one is silent";
}

TEST_F(NodeConditionsTest, WhenTheOtherWriterSaysThatItEndsNobodyWaitsForItsSilence) {
  set(ConditionStatus::kFalse);
  start();
  json::object theirs{{"type", "BGPUnhealthy"},
                      {"status", "True"},
                      {"reason", "BGPFails"},
                      {"lastHeartbeatTime", "2020-01-01T00:00:00Z"}};
  node.merge(theirs);
  world.run_for(6min);
  ASSERT_EQ(node.get("BGPUnhealthy"), "True");
  theirs["status"] = "Unknown";
  theirs["reason"] = "AgentEnded";
  theirs["lastHeartbeatTime"] = "2020-01-01T00:05:00Z";
  node.merge(theirs);
  world.run_for(6min);
  EXPECT_EQ(node.get("BGPUnhealthy"), "False");
}

TEST_F(NodeConditionsTest, AWriteWhoseAnswerIsLostIsStillItsOwn) {
  set(ConditionStatus::kTrue);
  start();
  node.loses_answers = true;
  set(ConditionStatus::kFalse);
  world.run_for(3s);
  ASSERT_EQ(node.get("BGPUnhealthy"), "False");
  node.loses_answers = false;
  set(ConditionStatus::kTrue);
  world.run_for(10s);
  EXPECT_EQ(node.get("BGPUnhealthy"), "True") << "nobody else has written it";
  world.run(us, agent->stop());
  EXPECT_EQ(node.get("BGPUnhealthy", "reason"), "AgentEnded");
  agent.reset();
}

/// Of a group of checks that the configuration had before.
TEST_F(NodeConditionsTest, WhatAnEarlierLifeLeftGoesWhenNobodyRenewsIt) {
  node.merge({{"type", "EtcdUnhealthy"},
              {"status", "True"},
              {"reason", "EtcdFails"},
              {"lastHeartbeatTime", "2026-01-01T00:00:00Z"}});
  node.merge({{"type", "ServiceUnhealthy"},
              {"status", "True"},
              {"reason", "OfAnotherProgram"},
              {"lastHeartbeatTime", "2026-01-01T00:00:00Z"}});
  set(ConditionStatus::kFalse);
  start();
  world.run_for(10min);
  EXPECT_EQ(node.get("EtcdUnhealthy"), "True") << "another agent may look at etcd";
  world.run_for(11min);
  EXPECT_EQ(node.get("EtcdUnhealthy"), "none");
  EXPECT_EQ(node.get("ServiceUnhealthy"), "True") << "it is not ours";
}

TEST_F(NodeConditionsTest, WhatAnotherAgentOfOursRenewsStays) {
  set(ConditionStatus::kFalse);
  for (int minute = 0; minute < 40; ++minute) {
    if (minute % 5 == 0)
      node.merge({{"type", "EtcdUnhealthy"},
                  {"status", "True"},
                  {"reason", "EtcdFails"},
                  {"lastHeartbeatTime", std::to_string(minute)}});
    if (minute == 0) start();
    world.run_for(1min);
  }
  EXPECT_EQ(node.get("EtcdUnhealthy"), "True");
}

TEST_F(NodeConditionsTest, ItsOwnConditionGoesWithTheLastCheckAndNoOther) {
  set(ConditionStatus::kTrue);
  node.merge({{"type", "EtcdUnhealthy"}, {"status", "True"}});
  start();
  now.clear();
  world.run_for(2s);
  EXPECT_EQ(node.get("BGPUnhealthy"), "none");
  EXPECT_EQ(node.get("EtcdUnhealthy"), "True");
}

TEST_F(NodeConditionsTest, AnAgentThatEndsSaysThatNobodyKnows) {
  set(ConditionStatus::kFalse);
  start();
  world.run(us, agent->stop());
  agent.reset();
  EXPECT_EQ(node.get("BGPUnhealthy"), "Unknown");
}

TEST_F(NodeConditionsTest, ANodeThatIsNotThereIsNotMade) {
  name = "other";
  agent = make();
  set(ConditionStatus::kTrue);
  start();
  world.run_for(1min);
  EXPECT_EQ(node.patches, 0);
}

}  // namespace
}  // namespace wardmote::act::kubernetes
