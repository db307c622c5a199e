// An agent that is started again in the middle of a mesh's outage calls the mesh no better than it
// called it before, and what ended while the agent was away ends soon after its start.

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/time.h"
#include "sim/agent_lives.h"
#include "sim/bird_mesh.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using sim::kKnocks;
using sim::kUp;
using sim::World;
using namespace std::chrono_literals;

std::string config_with(std::string_view members) {
  return fmt::format(R"(
api: {{listen: 127.0.0.1:9470}}
data: /var/lib/wardmote
checks:
  - {{name: r1, bird: {{socket: /run/1.ctl}}, every: 1s, timeout: 900ms}}
  - {{name: r2, bird: {{socket: /run/2.ctl}}, every: 1s, timeout: 900ms}}
  - {{name: r3, bird: {{socket: /run/3.ctl}}, every: 1s, timeout: 900ms}}
meshes:
  - {{name: bgp, members: [{}]}}
gates:
  ready: {{all: [bgp]}}
)",
                     members);
}

std::string text(const json::value& value) {
  return value.as_string().c_str();
}

/// The daemons, and an agent that can be started again.
class Site : public sim::BirdMesh {
 public:
  /// What is out is a whole daemon, or one session.
  Site(World& world, bool daemon) : BirdMesh(world), daemon_(daemon) { begin(); }
  ~Site() { end(); }

  void begin(std::string_view members = "{check: r1}, {check: r2}, {check: r3}") {
    agent_.begin(config_with(members));
  }
  void end() { agent_.end(); }

  std::string outcome() { return text(json::parse(told("/api/v1/meshes/bgp")).at("outcome")); }
  bool ready() { return get("/readyz").status == 200; }
  std::string open() {
    std::string open;
    const json::value incidents = json::parse(told("/api/v1/incidents"));
    for (const json::value& one : incidents.at("incidents").as_array())
      open += text(one.at("code")) + " of " + text(one.at("root")) + "\n";
    return open;
  }
  void wait_for_the_outage() {
    sim.run_for(5s + Duration(sim.random().below(1'000'000'000)));
    ASSERT_TRUE(ready());
    begin_outage();
    ASSERT_LE(time_until([&] { return outcome() == "fail" && !ready(); }, 60s), 60s);
    sim.run_for(10s);  // the check of the daemon is reported too, and all of it is written down
  }
  /// One end of a session says that it is down: only the window makes that a finding.
  void begin_outage() { daemon_ ? stop(1) : says(1, 2, kKnocks); }
  void end_outage() { daemon_ ? go_on(1) : says(1, 2, kUp); }

 private:
  bool daemon_;
  sim::AgentLives agent_{sim, us};
};

void outage_stays_what_it_is(World& sim, bool daemon) {
  Site site(sim, daemon);
  site.wait_for_the_outage();
  const std::string before = site.open();
  ASSERT_FALSE(before.empty());
  site.end();
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  site.begin();
  // Longer than an incident that is not seen again waits.
  for (int i = 0; i < 1500; ++i) {
    ASSERT_EQ(site.outcome(), "fail") << i;
    ASSERT_FALSE(site.ready()) << i;
    ASSERT_EQ(site.open(), before) << i;
    sim.run_for(100ms);
  }
  site.end_outage();
  EXPECT_LE(site.time_until([&] { return site.outcome() == "ok" && site.ready(); }, 60s), 10s);
  EXPECT_EQ(site.open(), "");
}
SIM_TEST_SEEDS(SimMeshRestart, ASessionThatIsOutStaysSoOnEveryFace, 5) {
  outage_stays_what_it_is(sim, false);
}
SIM_TEST_SEEDS(SimMeshRestart, ADaemonThatIsOutStaysSoOnEveryFace, 5) {
  outage_stays_what_it_is(sim, true);
}

void is_over_after_three_clean_rounds(World& sim, bool daemon) {
  Site site(sim, daemon);
  site.wait_for_the_outage();
  site.end();
  site.end_outage();
  sim.run_for(1s);
  site.begin();
  EXPECT_EQ(site.outcome(), "fail") << "nobody has looked yet";
  const auto over = [&] { return site.outcome() == "ok" && site.ready() && site.open().empty(); };
  EXPECT_LE(site.time_until(over, 60s), 8s) << site.open();
}
SIM_TEST_SEEDS(SimMeshRestart, ASessionThatCameBackMeanwhileIsBelievedAfterThreeCleanRounds, 5) {
  is_over_after_three_clean_rounds(sim, false);
}
SIM_TEST_SEEDS(SimMeshRestart, ADaemonThatCameBackMeanwhileIsBelievedAfterThreeCleanRounds, 5) {
  is_over_after_three_clean_rounds(sim, true);
}

void no_gate_opens_before_its_end(World& sim, bool daemon) {
  Site site(sim, daemon);
  site.end();
  site.begin_outage();
  sim.run_for(1s);
  // A daemon that is silent from the start tells nobody its address.
  site.begin("{check: r1, addresses: [10.0.0.1]}, {check: r2}, {check: r3}");
  while (site.outcome() != "fail") {
    ASSERT_EQ(site.outcome(), "unknown");
    ASSERT_FALSE(site.ready());
    sim.run_for(100ms);
  }
  site.end_outage();
  EXPECT_LE(site.time_until([&] { return site.ready(); }, 60s), 10s);
}
SIM_TEST_SEEDS(SimMeshRestart, AnAgentThatStartsWithASessionOutIsNotReady, 5) {
  no_gate_opens_before_its_end(sim, false);
}
SIM_TEST_SEEDS(SimMeshRestart, AnAgentThatStartsWithADaemonOutIsNotReady, 5) {
  no_gate_opens_before_its_end(sim, true);
}

}  // namespace
}  // namespace wardmote::agent
