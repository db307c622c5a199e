// An agent that is started again in the middle of a cluster's outage calls the cluster no better
// than it called it before, on any face, until the windows of its findings have passed anew.

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sim/cluster_site.h"
#include "sim/seeds.h"
#include "support/captured_member.h"
#include "support/fake_server.h"

namespace wardmote::agent {
namespace {

using sim::ClusterSite;
using namespace std::chrono_literals;

/// What a capture of a real server says, with other words in some places.
class Edited {
 public:
  explicit Edited(std::size_t member)
      : manners_(testing::captured_member("01-healthy.txt", member)) {}
  Edited& with(std::string_view text, std::string_view instead) {
    for (auto& [method, answer] : manners_.results) {
      for (std::size_t at = answer.find(text); at != std::string::npos;
           at = answer.find(text, at + instead.size()))
        answer.replace(at, text.size(), instead);
    }
    return *this;
  }
  operator const testing::FakeManners&() const { return manners_; }

 private:
  testing::FakeManners manners_;
};

/// `cafe` has joined with the address of 1430, which is no member of the configuration; the leader
/// heard 1430 so many milliseconds ago.
void tell_of_two_at_one_address(ClusterSite& site, const std::string& age) {
  const std::string listed = "1430 (1430 at tcp:127.0.0.1:16643)";
  const std::string cafe = "cafe (cafe at tcp:127.0.0.1:16643)";
  site.members[0]->answer(
      Edited(0)
          .with("16643) next_index=5 match_index=4 last msg 336",
                "16643) next_index=5 match_index=4 last msg " + age)
          .with(R"(\nServers:\n)", R"(\nServers:\n    )" + cafe +
                                       R"( next_index=5 match_index=4 last msg 336 ms ago\n)")
          .with("<-1430 ->1430", "<-cafe ->cafe"));
  site.members[1]->answer(Edited(1)
                              .with(R"(\nServers:\n)", R"(\nServers:\n    )" + cafe + R"(\n)")
                              .with("<-1430 ->1430", "<-cafe ->cafe"));
  site.members[2]->answer(Edited(2)
                              .with("1430", "cafe")
                              .with(R"(\nServers:\n)", R"(\nServers:\n    )" + listed + R"(\n)"));
}

std::string stale_advice(ClusterSite& site) {
  const auto cluster = boost::json::parse(site.get("/api/v1/clusters/nb").body);
  for (const auto& finding : cluster.at("findings").as_array()) {
    if (finding.at("code").as_string() == "RAFT_STALE_MEMBER")
      return std::string(finding.at("advice").at("text").as_string());
  }
  return "none";
}

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

// Two were alive at once, so that nobody knows whose the address is. The agent that begins when one
// of them is down cannot see that any more.
SIM_TEST_SEEDS(SimClusterRestart, WhoWasAliveBesideAnotherAtItsAddressIsNoGhostLater, 3) {
  ClusterSite site(sim);
  tell_of_two_at_one_address(site, "336");
  sim.run_for(5s);
  site.end();
  tell_of_two_at_one_address(site, "90000");
  site.begin();
  ASSERT_LE(site.time_until([&] { return stale_advice(site) != "none"; }, 60s), 60s);
  sim.run_for(60s);
  EXPECT_TRUE(stale_advice(site).starts_with("Remove none of them")) << stale_advice(site);
}

// The same without that: the other one is a ghost.
SIM_TEST_SEEDS(SimClusterRestart, WhoWasNeverSeenAliveBesideAnotherIsAGhost, 3) {
  ClusterSite site(sim);
  site.end();
  tell_of_two_at_one_address(site, "90000");
  site.begin();
  ASSERT_LE(site.time_until([&] { return stale_advice(site) != "none"; }, 60s), 60s);
  sim.run_for(60s);
  EXPECT_TRUE(stale_advice(site).contains("1430")) << stale_advice(site);
  EXPECT_FALSE(stale_advice(site).contains("Remove none")) << stale_advice(site);
}

}  // namespace
}  // namespace wardmote::agent
