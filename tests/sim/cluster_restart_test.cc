// An agent that is started again in the middle of a cluster's outage calls the cluster no better
// than it called it before, on any face, until the windows of its findings have passed anew.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/time.h"
#include "sim/cluster_site.h"
#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using sim::ClusterSite;
using namespace std::chrono_literals;

SIM_TEST_SEEDS(SimClusterRestart, AnOutageStaysWhatItIsOnEveryFace, 5) {
  ClusterSite site(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  site.lose_the_leader();
  site.wait_for_the_outage();
  const std::string before = site.open();
  ASSERT_TRUE(before.contains("RAFT_MEMBER_DOWN critical")) << before;
  site.end();
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  site.begin();
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(site.verdict(), "critical") << i;
    ASSERT_EQ(site.get("/readyz").status, 503) << i;
    ASSERT_TRUE(site.metric_is(2)) << i;
    ASSERT_EQ(site.open(), before) << i;
    sim.run_for(100ms);
  }
  site.heal();
  EXPECT_LE(site.time_until([&] { return site.verdict() == "ok"; }, 30s), 30s);
  EXPECT_LE(site.time_until([&] { return site.get("/readyz").status == 200; }, 30s), 30s);
  EXPECT_EQ(site.open(), "");
}

SIM_TEST_SEEDS(SimClusterRestart, AnOutageThatEndedMeanwhileIsOverAfterAFewLooks, 5) {
  ClusterSite site(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  site.lose_the_leader();
  site.wait_for_the_outage();
  site.end();
  site.heal();
  site.begin();
  EXPECT_EQ(site.verdict(), "critical") << "nobody has looked yet";
  EXPECT_LE(site.time_until([&] { return site.verdict() == "ok"; }, 30s), 6s);
  EXPECT_EQ(site.open(), "") << "all faces at one moment";
  EXPECT_LE(site.time_until([&] { return site.get("/readyz").status == 200; }, 30s), 3s);
}

}  // namespace
}  // namespace wardmote::agent
