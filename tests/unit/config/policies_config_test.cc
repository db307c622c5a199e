#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/config.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "observe/kinds.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

const std::string kCluster =
    "clusters:\n- name: nb\n  ovn: {database: OVN_Northbound, members: [{name: a, control: /x}]}\n";

std::vector<std::string> complaints(const std::string& yaml) {
  std::vector<std::string> lines;
  const auto config = parse_config(kCluster + yaml, observe::probe_kinds());
  if (config) return lines;
  for (const Problem& problem : config.error()) lines.push_back(describe("f", problem));
  return lines;
}

bool complains(const std::string& yaml, const std::string& words) {
  for (const std::string& line : complaints(yaml)) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(PoliciesConfig, ObservesAndAsksUnlessTold) {
  const auto config = parse_config(kCluster + "policies: [{name: p, on: [RAFT_DEAD_MEMBER]}]\n",
                                   observe::probe_kinds());
  ASSERT_TRUE(config);
  ASSERT_EQ(config->policies.size(), 1U);
  const judge::plan::Policy& policy = config->policies.front();
  EXPECT_FALSE(policy.act);
  EXPECT_FALSE(policy.sole);
  EXPECT_TRUE(policy.approval);
  EXPECT_EQ(policy.after, 1min);
  EXPECT_EQ(policy.budget, 1U);
  EXPECT_EQ(policy.cooldown, 10min);
  EXPECT_TRUE(policy.covers("nb"));
}

TEST(PoliciesConfig, WhatActsNeedsAJournal) {
  const std::string acts = "policies: [{name: p, on: [RAFT_DEAD_MEMBER], mode: act}]\n";
  EXPECT_TRUE(complains(acts, "nowhere to write that down"));
  EXPECT_TRUE(complaints("data: /var/lib/wardmote\n" + acts).empty());
}

TEST(PoliciesConfig, WhatActsNeedsTheOperatorsWordThatItIsAlone) {
  const std::string start =
      kCluster + "data: /d\npolicies: [{name: p, on: [RAFT_DEAD_MEMBER], mode: ";
  const auto alone = parse_config(start + "act}]\n", observe::probe_kinds());
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->policies.front().acts());
  ASSERT_EQ(warnings(*alone).size(), 1U);
  EXPECT_NE(warnings(*alone).front().find("'sole: true'"), std::string::npos);
  const auto sole = parse_config(start + "act, sole: true}]\n", observe::probe_kinds());
  ASSERT_TRUE(sole);
  EXPECT_TRUE(sole->policies.front().acts());
  EXPECT_TRUE(warnings(*sole).empty());
  const auto observes = parse_config(start + "observe}]\n", observe::probe_kinds());
  ASSERT_TRUE(observes);
  EXPECT_TRUE(warnings(*observes).empty()) << "it does what it says";
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_DEAD_MEMBER], sole: maybe}]\n", "sole"));
}

TEST(PoliciesConfig, RefusesWhatNobodyCanRepairSafely) {
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_MEMBER_REMOVED]}]\n",
                        "nothing can be done about it safely"));
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_TWO_LEADERS_SAME_TERM]}]\n",
                        "nothing can be done about it safely"));
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_STALE_HINT]}]\n",
                        "nothing can be done about it safely"));
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_TYPO]}]\n", "there is no such finding"));
  EXPECT_TRUE(complains("policies: [{name: p, on: []}]\n", "it names no finding"));
}

TEST(PoliciesConfig, AreForClustersOrForGuests) {
  const std::string start = "data: /var/lib/wardmote\nguests: {every: 10s}\n";
  const auto guests = parse_config(
      start + "policies: [{name: p, on: [GUEST_PANIC, GUEST_DIED], mode: act, sole: true}]\n",
      observe::probe_kinds());
  ASSERT_TRUE(guests);
  EXPECT_TRUE(guests->policies.front().acts());
  EXPECT_TRUE(complains(start + "policies: [{name: p, on: [GUEST_PANIC, RAFT_DEAD_MEMBER]}]\n",
                        "it is for clusters and for guests"));
  EXPECT_TRUE(complains(start + "policies: [{name: p, on: [AGENT_DOWN]}]\n",
                        "nothing can be done about it safely"));
  EXPECT_TRUE(complains(start + "policies: [{name: p, on: [GUEST_NO_ANSWER]}]\n",
                        "nothing can be done about it safely"));
  EXPECT_TRUE(complains("policies: [{name: p, on: [GUEST_PANIC]}]\n", "none are watched"));
  EXPECT_TRUE(complains("guests: {}\npolicies: [{name: p, on: [GUEST_PANIC], clusters: [nb]}]\n",
                        "guests belong to no cluster"));
  EXPECT_TRUE(
      complains("store: {etcd: {endpoints: ['10.0.0.1:2379']}}\nguests: {}\n"
                "policies: [{name: p, on: [GUEST_PANIC]}]\n",
                "restart no guests"));
}

TEST(PoliciesConfig, RefusesClustersThatAreNotThereAndNamesThatAreTaken) {
  EXPECT_TRUE(complains("policies: [{name: p, on: [RAFT_DEAD_MEMBER], clusters: [sb]}]\n",
                        "there is no such cluster"));
  EXPECT_TRUE(complains(
      "policies:\n- {name: p, on: [RAFT_DEAD_MEMBER]}\n- {name: p, on: [RAFT_DEAD_MEMBER]}\n",
      "already used"));
}

}  // namespace
}  // namespace wardmote::config
