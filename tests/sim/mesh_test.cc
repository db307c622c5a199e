#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "agent/service_manager.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "observe/kinds.h"
#include "sim/bird_mesh.h"
#include "sim/seeds.h"
#include "sim/world.h"

namespace wardmote::agent {
namespace {

using sim::kKnocks;
using sim::kUp;
using sim::World;
using namespace std::chrono_literals;

constexpr std::string_view kConfig = R"(
api: {listen: 127.0.0.1:9470}
checks:
  - {name: r1, bird: {socket: /run/1.ctl}, every: 1s, timeout: 900ms}
  - {name: r2, bird: {socket: /run/2.ctl}, every: 1s, timeout: 900ms}
  - {name: r3, bird: {socket: /run/3.ctl}, every: 1s, timeout: 900ms}
meshes:
  - {name: bgp, members: [{check: r1}, {check: r2}, {check: r3}]}
)";

/// The three, and an agent that watches them.
class Mesh : public sim::BirdMesh {
 public:
  explicit Mesh(World& world) : BirdMesh(world) {
    const Result<void> started = agent.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Mesh() { sim.run(us, agent.stop()); }

  const ServiceManager no_service{"", std::nullopt};
  Agent agent{us, no_service, *config::parse_config(kConfig, observe::probe_kinds()), "ctl"};
};

SIM_TEST_SEEDS(SimMesh, AWholeMeshIsSeenFromAllEndsAndQuiet, 3) {
  Mesh mesh(sim);
  sim.run_for(5s);
  const std::string seen = mesh.told("/api/v1/meshes");
  EXPECT_TRUE(seen.contains(R"("outcome":"ok")")) << seen;
  EXPECT_TRUE(
      seen.contains(R"("matrix":[["self","up","up"],["up","self","up"],["up","up","self"]])"))
      << seen;
  sim.run_for(60s);
  EXPECT_FALSE(mesh.finds("BGP_"));
}

SIM_TEST_SEEDS(SimMesh, TwoThatDoNotHearEachOtherAreSuspectedOfPasswordsAfterTheWindow, 5) {
  Mesh mesh(sim);
  sim.run_for(5s);
  mesh.says(1, 2, kKnocks);
  mesh.says(2, 1, kKnocks);
  const auto found = [&] { return mesh.finds("BGP_PASSWORD_MISMATCH"); };
  // By their own account the sessions are down for 47 s: two looks are enough.
  EXPECT_LE(mesh.time_until(found, 30s), 4s);
  EXPECT_TRUE(mesh.finds(R"("subjects":["r1/r2"])"));
  EXPECT_TRUE(
      mesh.told("/metrics")
          .contains(
              R"(wardmote_mesh_finding{mesh="bgp",code="BGP_PASSWORD_MISMATCH",severity="critical"} 1)"));
  mesh.says(1, 2, kUp);
  mesh.says(2, 1, kUp);
  EXPECT_LE(mesh.time_until([&] { return !found(); }, 30s), 3s);
}

SIM_TEST_SEEDS(SimMesh, AStoppedDaemonIsOneFindingAndOneIncident, 5) {
  Mesh mesh(sim);
  sim.run_for(5s + Duration(sim.random().below(1'000'000'000)));
  mesh.stop(1);
  EXPECT_LE(mesh.time_until([&] { return mesh.finds("BGP_DAEMON_DOWN"); }, 30s), 10s);
  sim.run_for(30s);
  const std::string findings = mesh.told("/api/v1/findings");
  EXPECT_FALSE(findings.contains("BGP_NO_ANSWER") || findings.contains("BGP_PASSWORD")) << findings;
  EXPECT_TRUE(findings.contains("2 sessions are down because of it")) << findings;
  const std::string incidents = mesh.told("/api/v1/incidents");
  EXPECT_TRUE(incidents.contains(R"("root":"check:r1")")) << incidents;
  EXPECT_FALSE(incidents.contains(R"("id":2)")) << incidents;
  mesh.go_on(1);
  EXPECT_LE(mesh.time_until([&] { return !mesh.finds("BGP_"); }, 30s), 4s);
}

SIM_TEST_SEEDS(SimMesh, AStarvedProberBlamesNobody, 5) {
  Mesh mesh(sim);
  sim.run_for(5s);
  mesh.us.pause();
  sim.run_for(30s);
  mesh.us.resume();
  for (int i = 0; i < 100; ++i) {
    sim.run_for(100ms);
    ASSERT_FALSE(mesh.finds("BGP_"));
  }
}

}  // namespace
}  // namespace wardmote::agent
