#include "agent/reload_plan.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::agent {
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

TEST(ReloadPlan, KeepsWhatIsTheSameWhereverItStands) {
  config::Config from;
  from.checks = {check("a", "x"), check("b", "y")};
  from.clusters = {cluster("nb", {"1", "2"})};
  config::Config to;
  to.checks = {check("new", "z"), check("b", "y"), check("a", "x")};
  to.checks[1].at = {12, 3};
  to.clusters = from.clusters;

  const ReloadPlan plan = plan_reload(from, to);
  EXPECT_EQ(plan.checks[0].fate, Fate::kBegun);
  EXPECT_EQ(plan.checks[1].fate, Fate::kKept);
  EXPECT_EQ(plan.checks[1].was, 1U);
  EXPECT_EQ(plan.checks[2].fate, Fate::kKept);
  EXPECT_EQ(plan.checks[2].was, 0U);
  EXPECT_EQ(plan.clusters[0].fate, Fate::kKept);
  EXPECT_TRUE(plan.ended.empty());
  EXPECT_EQ(plan.count(Fate::kKept), 3U);
}

TEST(ReloadPlan, RetimesWhatLooksAtTheSameOnAnotherSchedule) {
  config::Config from;
  from.checks = {check("a", "x"), check("b", "y")};
  from.clusters = {cluster("nb", {"1"})};
  config::Config to = from;
  to.checks[0].schedule.every = 1s;
  to.checks[1].schedule.policy.fall = 7;
  to.clusters[0].schedule.optional = true;
  const ReloadPlan plan = plan_reload(from, to);
  EXPECT_EQ(plan.count(Fate::kRetimed), 3U);
  EXPECT_EQ(plan.ended, (std::vector<std::string>{"nb", "a", "b"}));
}

TEST(ReloadPlan, BeginsWhatLooksAtSomethingElse) {
  config::Config from;
  from.checks = {check("a", "x")};
  from.clusters = {cluster("nb", {"1", "2"}), cluster("sb", {"1"})};
  config::Config to = from;
  to.checks[0] = check("a", "elsewhere");
  to.clusters[0] = cluster("nb", {"1", "2", "3"});
  to.clusters[1].expectation.replicas = 3;
  const ReloadPlan plan = plan_reload(from, to);
  EXPECT_EQ(plan.count(Fate::kBegun), 3U);
  EXPECT_EQ(plan.ended.size(), 3U);
}

TEST(ReloadPlan, EndsWhatIsGoneAndWhatMovedFromChecksToClusters) {
  config::Config from;
  from.checks = {check("gone", "x"), check("nb", "y")};
  config::Config to;
  to.clusters = {cluster("nb", {"1"})};
  const ReloadPlan plan = plan_reload(from, to);
  EXPECT_EQ(plan.clusters[0].fate, Fate::kBegun);
  EXPECT_EQ(plan.ended, (std::vector<std::string>{"gone", "nb"}));
}

TEST(ReloadPlan, FromNothingBeginsAll) {
  config::Config to;
  to.checks = {check("a", "x")};
  to.clusters = {cluster("nb", {"1"})};
  const ReloadPlan plan = plan_reload({}, to);
  EXPECT_EQ(plan.count(Fate::kBegun), 2U);
  EXPECT_TRUE(plan.ended.empty());
}

}  // namespace
}  // namespace wardmote::agent
