// What is said of a cluster while the answers of a round are still awaited.

#include <gtest/gtest.h>

#include <chrono>

#include "sim/cluster_site.h"
#include "sim/seeds.h"

namespace wardmote::agent {
namespace {

using sim::ClusterSite;
using namespace std::chrono_literals;

// A round lasts as long as its slowest member. Until its end the cluster was critical, had an
// incident that people were told of, and its gate was open.
SIM_TEST_SEEDS(SimClusterRound, TheGateClosesWithTheFindingAndNotAtTheEndOfTheRound, 5) {
  ClusterSite site(sim, "every: 15s\n    timeout: 14s\n    fall: 1\n    rise: 1");
  sim.run_for(40s + Duration(sim.random().below(15'000'000'000)));
  ASSERT_EQ(site.get("/readyz").status, 200);
  // One look shows that a member is down, which is told of at the next; another is slow by then.
  site.lose_the_leader();
  const auto seen = [&] { return site.get("/api/v1/clusters/nb").body.contains("\"refused\""); };
  ASSERT_LE(site.time_until(seen, 30s), 30s);
  ASSERT_EQ(site.verdict(), "ok") << "that look alone proves nothing";
  site.members[2]->process().pause();
  ASSERT_LE(site.time_until([&] { return site.verdict() == "critical"; }, 90s), 90s);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(site.get("/readyz").status, 503) << i;
    ASSERT_EQ(site.verdict(), "critical") << i;
    sim.run_for(100ms);
  }
  site.members[2]->process().resume();
  site.heal();
  EXPECT_LE(site.time_until([&] { return site.get("/readyz").status == 200; }, 120s), 120s);
  EXPECT_EQ(site.verdict(), "ok");
}

}  // namespace
}  // namespace wardmote::agent
