#include "config/reload_plan.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;

constexpr observe::ProbeKind kFakeKind{"fake", "a fake", {}, nullptr};

config::Check check(const std::string& name, const std::string& target, Duration every = 5s) {
  return {name, {}, &kFakeKind, {{"target", target}}, {every, every / 2, {}, false}, {}};
}

config::Cluster cluster(const std::string& name, std::vector<std::string> members) {
  config::Cluster made;
  made.name = name;
  made.expectation.database = "OVN_Northbound";
  for (const std::string& member : members) {
    config::Member& added = made.members.emplace_back();
    added.name = member;
  }
  made.schedule.every = 1s;
  return made;
}

/// With the check of each cluster, as a configuration that was read has it.
config::Config whole(config::Config config) {
  for (std::size_t i = 0; i < config.clusters.size(); ++i) {
    config.checks.insert(config.checks.begin() + static_cast<std::ptrdiff_t>(i),
                         check_of(config.clusters[i]));
  }
  return config;
}

TEST(ReloadPlan, KeepsWhatIsTheSameWhereverItStands) {
  config::Config from;
  from.checks = {check("a", "x"), check("b", "y")};
  from.clusters = {cluster("nb", {"1", "2"})};
  config::Config to;
  to.checks = {check("new", "z"), check("b", "y"), check("a", "x")};
  to.checks[1].at = {12, 3};
  to.clusters = from.clusters;

  const ReloadPlan plan = plan_reload(whole(from), whole(to));
  EXPECT_EQ(plan.checks[0].action, ReloadAction::kKept) << "the cluster's";
  EXPECT_EQ(plan.checks[1].action, ReloadAction::kBegun);
  EXPECT_EQ(plan.checks[2].action, ReloadAction::kKept);
  EXPECT_EQ(plan.checks[2].was, 2U);
  EXPECT_EQ(plan.checks[3].action, ReloadAction::kKept);
  EXPECT_EQ(plan.checks[3].was, 1U);
  EXPECT_EQ(plan.clusters[0].action, ReloadAction::kKept);
  EXPECT_TRUE(plan.ended.empty());
  EXPECT_EQ(plan.count(ReloadAction::kKept), 3U);
}

TEST(ReloadPlan, RetimesWhatLooksAtTheSameOnAnotherSchedule) {
  config::Config from;
  from.checks = {check("a", "x"), check("b", "y")};
  from.clusters = {cluster("nb", {"1"})};
  config::Config to = from;
  to.checks[0].schedule.every = 1s;
  to.checks[1].schedule.policy.fall = 7;
  to.clusters[0].schedule.optional = true;
  const ReloadPlan plan = plan_reload(whole(from), whole(to));
  EXPECT_EQ(plan.count(ReloadAction::kRetimed), 3U);
  EXPECT_EQ(plan.ended, (std::vector<std::string>{"nb", "a", "b"}));
}

// It looks at the same: what it knows stays true.
TEST(ReloadPlan, WhatDependsOnOtherThingsKeepsWhatItKnows) {
  config::Config from;
  from.checks = {check("a", "x"), check("b", "y")};
  config::Config to = from;
  to.checks[0].depends_on = {"b"};
  const ReloadPlan plan = plan_reload(from, to);
  EXPECT_EQ(plan.checks[0].action, ReloadAction::kRetimed);
  EXPECT_EQ(plan.checks[1].action, ReloadAction::kKept);
}

TEST(ReloadPlan, BeginsWhatLooksAtSomethingElse) {
  config::Config from;
  from.checks = {check("a", "x")};
  from.clusters = {cluster("nb", {"1", "2"}), cluster("sb", {"1"})};
  config::Config to = from;
  to.checks[0] = check("a", "elsewhere");
  to.clusters[0] = cluster("nb", {"4", "5", "6"});
  to.clusters[1].expectation.database = "OVN_IC_Southbound";
  const ReloadPlan plan = plan_reload(whole(from), whole(to));
  EXPECT_EQ(plan.count(ReloadAction::kBegun), 3U);
  EXPECT_EQ(plan.ended.size(), 3U);
}

// Who corrects `expect` in an outage must not lose since when it stands, and who was who.
TEST(ReloadPlan, AnotherExpectationKeepsWhatIsKnown) {
  config::Config from;
  from.clusters = {cluster("nb", {"1", "2"})};
  config::Config to = from;
  to.clusters[0].expectation.addresses = {"tcp:10.0.0.1:6643"};
  to.clusters[0].expectation.replicas = 3;
  to.clusters[0].expectation.gone_after = 1h;
  EXPECT_EQ(plan_reload(whole(from), whole(to)).clusters[0].action, ReloadAction::kRetimed);
}

// An outage is not over because somebody corrects how a member is asked, or adds one.
TEST(ReloadPlan, AClusterGoesOnWhileOneMemberOfItDoes) {
  config::Config from;
  from.clusters = {cluster("nb", {"1", "2"})};
  const auto action = [&](auto change) {
    config::Config to = from;
    change(to.clusters[0].members);
    return plan_reload(whole(from), whole(to)).clusters[0].action;
  };
  using Members = std::vector<config::Member>;
  EXPECT_EQ(action([](Members& all) { all.emplace_back().name = "3"; }), ReloadAction::kRetimed);
  EXPECT_EQ(action([](Members& all) { all[0].name = "4"; }), ReloadAction::kRetimed);
  EXPECT_EQ(action([](Members& all) { all[0].control = runtime::Endpoint::unix_socket("/x"); }),
            ReloadAction::kRetimed);
  EXPECT_EQ(action([](Members& all) { all[0].repair.rejoin = {"/bin/true"}; }),
            ReloadAction::kKept);
  EXPECT_EQ(action([](Members& all) {
              for (config::Member& member : all)
                member.control = runtime::Endpoint::unix_socket("/x");
            }),
            ReloadAction::kBegun);
}

TEST(ReloadPlan, EndsWhatIsGoneAndWhatMovedFromChecksToClusters) {
  config::Config from;
  from.checks = {check("gone", "x"), check("nb", "y")};
  config::Config to;
  to.clusters = {cluster("nb", {"1"})};
  const ReloadPlan plan = plan_reload(whole(from), whole(to));
  EXPECT_EQ(plan.clusters[0].action, ReloadAction::kBegun);
  EXPECT_EQ(plan.ended, (std::vector<std::string>{"gone", "nb"}));
}

TEST(ReloadPlan, FromNothingBeginsAll) {
  config::Config to;
  to.checks = {check("a", "x")};
  to.clusters = {cluster("nb", {"1"})};
  const ReloadPlan plan = plan_reload({}, whole(to));
  EXPECT_EQ(plan.count(ReloadAction::kBegun), 2U);
  EXPECT_TRUE(plan.ended.empty());
}

}  // namespace
}  // namespace wardmote::config
