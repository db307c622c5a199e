// Whoever lives while a plan for it runs, and what must not be done beside it.

#include <chrono>

#include <gtest/gtest.h>

#include "judge/plan/plan.h"
#include "unit/act/plan_runner_fixture.h"

namespace wardmote::act {
namespace {

using PlanLifeTest = PlanRunnerTest;

TEST_F(PlanLifeTest, WhoWasBackWhileItsDatabaseWasCopiedIsNoCaseForThisPlan) {
  executor_.scripts = {{.takes = 20s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return executor_.deeds.size() == 1; }));
  site_.back = true;
  watch(2s);
  site_.back = false;
  since_ = us_.now();
  watch(30s);
  EXPECT_EQ(plan(1).state, PlanState::kWithdrawn) << plan(1).reason;
  EXPECT_EQ(site_.kicks, 0);
}

TEST_F(PlanLifeTest, NothingBeginsBesideACommandOfAPlanThatWasRejected) {
  executor_.scripts = {kFine, kFine, {.does_it = false, .takes = 60s}};
  approve();
  ASSERT_TRUE(watch_until([&] { return executor_.deeds.size() == 3; }));
  ASSERT_EQ(executor_.deeds.back().step, "rejoin");
  ASSERT_TRUE(runner_->reject(1, "ann", ""));
  EXPECT_TRUE(plan(1).reason.contains("may still be carried out")) << plan(1).reason;
  site_.listed = true;  // as another server, for all that matters here
  watch(1s);
  const auto second = runner_->propose("ovn-nb", "ctl-3", "bob");
  ASSERT_TRUE(second) << second.error().describe();
  watch(1s);
  ASSERT_TRUE(runner_->approve(*second, "bob", ""));
  watch(20s);
  EXPECT_EQ(executor_.deeds.size(), 3U);
  EXPECT_EQ(plan(*second).reason, "a step of plan 1 is still under way");
  watch(60s);
  EXPECT_GT(executor_.deeds.size(), 3U);
}

TEST_F(PlanLifeTest, OneClusterUnderTwoNamesIsLeftAlone) {
  config_.clusters.push_back({"ovn-nb-too"});
  runner_->reload(config_.setup());
  site_.cluster_id = id_of("c1c1c1c1-0000-4000-8000-000000000001");
  approve();
  runner_->heard(site_.remedy(us_.now(), "ovn-nb-too"), {});
  watch(20s);
  EXPECT_TRUE(executor_.deeds.empty());
  EXPECT_EQ(plan().reason,
            "ovn-nb and ovn-nb-too are one in two entries of the configuration: leave one of them");
}

TEST_F(PlanLifeTest, WhoCameBackAndWasRemovedAllTheSameIsToldOf) {
  executor_.scripts = {kFine, {.takes = 4s, .does_it_last = true}};
  approve();
  ASSERT_TRUE(watch_until([&] { return executor_.deeds.size() == 2; }));
  site_.back = true;
  ASSERT_TRUE(watch_until([&] { return has("unknown kick"); }));
  restart();
  site_.back = site_.listed = false;  // by the other host, which goes on with what it was told
  ASSERT_TRUE(watch_until([&] { return is(PlanState::kUnclear); }));
  EXPECT_TRUE(plan().reason.contains("it lived then")) << plan().reason;
  EXPECT_EQ(site_.rejoins, 0);
}

}  // namespace
}  // namespace wardmote::act
