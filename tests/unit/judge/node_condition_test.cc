#include "judge/node_condition.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "judge/check_machine.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

using Status = ConditionStatus;

CheckFact fact(std::string_view name, std::string_view kind, State state,
               std::string_view reason = "") {
  CheckFact fact{.name = name, .kind = kind, .state = {}, .reason = reason};
  fact.state.state = state;
  fact.state.seen_good = true;
  fact.state.last = state == State::kHealthy ? Outcome::kOk : Outcome::kFail;
  return fact;
}

Status only_status(const std::vector<CheckFact>& facts) {
  const std::vector<NodeCondition> found = node_conditions(facts);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? Status::kUnknown : found.front().status;
}

TEST(NodeConditions, EachGroupWithAChecksHasOne) {
  const std::vector<CheckFact> facts{
      fact("nb", "cluster", State::kHealthy),    fact("bird", "bird", State::kHealthy),
      fact("mesh", "bgp_mesh", State::kHealthy), fact("felix", "runit", State::kHealthy),
      fact("web", "http", State::kReported),     fact("etcd", "etcd", State::kHealthy),
      fact("vs", "vswitchd", State::kHealthy)};
  std::vector<std::string> types;
  for (const NodeCondition& one : node_conditions(facts)) {
    types.push_back(one.type);
    EXPECT_EQ(one.status, Status::kFalse) << one.type;
  }
  EXPECT_EQ(types, (std::vector<std::string>{"OVNDatabaseUnhealthy", "OVNDaemonUnhealthy",
                                             "BGPUnhealthy", "EtcdUnhealthy", "ServiceUnhealthy"}));
}

TEST(NodeConditions, OnlyWhatIsConfirmedMakesOneTrue) {
  EXPECT_EQ(only_status({fact("a", "bird", State::kReported)}), Status::kTrue);
  EXPECT_EQ(only_status({fact("a", "bird", State::kError)}), Status::kFalse);
  CheckFact warned = fact("a", "bird", State::kHealthy);
  warned.state.degraded = true;
  EXPECT_EQ(only_status({warned}), Status::kFalse);
}

TEST(NodeConditions, WhatFailsAndIsNotConfirmedIsNotCalledGood) {
  CheckFact denied = fact("b", "bird", State::kHealthy, "permission denied");
  denied.state.last = Outcome::kUnknown;
  const auto message = [](const std::vector<CheckFact>& facts) {
    return node_conditions(facts).front().message;
  };
  const CheckFact good = fact("a", "bird", State::kHealthy);
  EXPECT_EQ(message({good}), "1 check is good");
  EXPECT_EQ(message({good, good}), "2 checks are good");
  EXPECT_EQ(message({good, denied}), "no failure is confirmed; b: permission denied");
  EXPECT_EQ(message({fact("c", "bird", State::kError, "refused")}),
            "no failure is confirmed; c: refused");
}

TEST(NodeConditions, OursIsKnownByItsReason) {
  EXPECT_TRUE(is_ours("BGPUnhealthy", "BGPFails"));
  EXPECT_TRUE(is_ours("BGPUnhealthy", "BGPHealthy"));
  EXPECT_TRUE(is_ours("BGPUnhealthy", "NotKnown"));
  EXPECT_TRUE(is_ours("BGPUnhealthy", "AgentEnded"));
  EXPECT_FALSE(is_ours("BGPUnhealthy", "EtcdFails"));
  EXPECT_FALSE(is_ours("Ready", "NotKnown"));
}

TEST(NodeConditions, WhatNobodyKnowsIsNeitherGoodNorBad) {
  EXPECT_EQ(only_status({fact("a", "bird", State::kDiscovery)}), Status::kUnknown);
  CheckFact blind = fact("a", "bird", State::kHealthy);
  blind.state.blind = true;
  EXPECT_EQ(only_status({blind}), Status::kUnknown);
  EXPECT_EQ(only_status({fact("a", "bird", State::kHealthy), blind}), Status::kUnknown);
  EXPECT_EQ(only_status({blind, fact("b", "bird", State::kReported)}), Status::kTrue);
}

TEST(NodeConditions, WhatDoesNotCountIsNotShown) {
  CheckFact optional = fact("a", "bird", State::kReported);
  optional.optional = true;
  optional.state.seen_good = false;
  EXPECT_TRUE(node_conditions(std::vector<CheckFact>{optional}).empty());
  EXPECT_TRUE(node_conditions({}).empty());
}

TEST(NodeConditions, SayWhichChecksAndWhy) {
  const auto found = node_conditions(std::vector<CheckFact>{
      fact("a", "bird", State::kReported, "connection refused"),
      fact("b", "bird", State::kHealthy, "not this one"), fact("c", "frr", State::kReported)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().reason, "BGPFails");
  EXPECT_EQ(found.front().message, "a: connection refused; c: it fails");
}

TEST(NodeConditions, TheMessageIsBounded) {
  const std::string why(300, 'x');
  std::vector<CheckFact> facts(10, fact("a", "bird", State::kReported, why));
  const auto found = node_conditions(facts);
  EXPECT_LE(found.front().message.size(), 1020U);
  EXPECT_TRUE(found.front().message.ends_with("; and more"));
}

TEST(NodeConditions, OfAnAgentThatEndsNothingIsKnown) {
  auto found = node_conditions(std::vector<CheckFact>{fact("a", "bird", State::kHealthy)});
  forget(found);
  EXPECT_EQ(found.front().status, Status::kUnknown);
  EXPECT_EQ(found.front().reason, "AgentEnded");
  EXPECT_EQ(to_string(Status::kUnknown), "Unknown");
}

}  // namespace
}  // namespace wardmote::judge
