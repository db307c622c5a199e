#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"
#include "sim/asked_agent.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_bird.h"

namespace wardmote::agent {
namespace {

using runtime::Endpoint;
using sim::SimRuntime;
using sim::World;
using testing::bird_table;
using testing::bird_with;
using testing::BirdManners;
using testing::FakeBird;
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

constexpr std::string_view kUp = "up     07:54:13    Established   ";
constexpr std::string_view kKnocks = "start  07:54:13    Connect       ";

/// Three BIRDs, each a process of one host that others know as 10.0.0.1 and so on, and the agent.
class Mesh : public sim::AskedAgent {
 public:
  explicit Mesh(World& world) : AskedAgent(world) {
    for (std::size_t i = 0; i < 3; ++i) {
      sessions_[i].fill(kUp);
      SimRuntime& process = sim.process(fmt::format("bird-{}", i + 1), "ctl");
      const auto spawn = [&process](std::string name, runtime::Task<void> task) {
        process.spawn(std::move(name), std::move(task));
      };
      birds_[i] = &process;
      fakes_[i] = std::make_unique<FakeBird>(
          process, spawn, Endpoint::unix_socket(fmt::format("/run/{}.ctl", i + 1)), manners(i));
    }
    const Result<void> started = agent.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Mesh() {
    sim.run(us, agent.stop());
    for (SimRuntime* const bird : birds_) bird->crash();
  }

  /// What `node` says of its session with `to` from now on.
  void says(std::size_t node, std::size_t to, std::string_view state) {
    sessions_[node - 1][to - 1] = state;
    fakes_[node - 1]->manners() = manners(node - 1);
  }
  SimRuntime& bird(std::size_t node) { return *birds_[node - 1]; }

  std::string told(std::string path) { return get(std::move(path)).body; }
  bool finds(std::string_view code) { return told("/api/v1/findings").contains(code); }

 private:
  BirdManners manners(std::size_t node) {
    std::string rows;
    for (std::size_t to = 0; to < 3; ++to) {
      if (to == node) continue;
      if (!rows.empty()) rows += " ";
      rows += fmt::format("Mesh_10_0_0_{} BGP      master   {}\n", to + 1, sessions_[node][to]);
    }
    BirdManners made = bird_with(bird_table(rows));
    std::string& status = made.replies["show status"];
    const std::string_view id = "1.1.1.1";
    status.replace(status.find(id), id.size(), fmt::format("10.0.0.{}", node + 1));
    return made;
  }

  std::array<std::array<std::string_view, 3>, 3> sessions_;
  std::array<SimRuntime*, 3> birds_{};
  std::array<std::unique_ptr<FakeBird>, 3> fakes_;

 public:
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
  mesh.bird(1).pause();
  mesh.says(2, 1, kKnocks);
  mesh.says(3, 1, kKnocks);
  EXPECT_LE(mesh.time_until([&] { return mesh.finds("BGP_DAEMON_DOWN"); }, 30s), 10s);
  sim.run_for(30s);
  const std::string findings = mesh.told("/api/v1/findings");
  EXPECT_FALSE(findings.contains("BGP_NO_ANSWER") || findings.contains("BGP_PASSWORD")) << findings;
  EXPECT_TRUE(findings.contains("2 sessions are down because of it")) << findings;
  const std::string incidents = mesh.told("/api/v1/incidents");
  EXPECT_TRUE(incidents.contains(R"("root":"check:r1")")) << incidents;
  EXPECT_FALSE(incidents.contains(R"("id":2)")) << incidents;
  mesh.says(2, 1, kUp);
  mesh.says(3, 1, kUp);
  mesh.bird(1).resume();
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
