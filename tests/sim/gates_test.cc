// What closes a gate, and when: the whole agent with fakes that misbehave.

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agent/agent.h"
#include "base/format.h"
#include "net/http_fetch.h"
#include "observe/kinds.h"
#include "runtime/http.h"
#include "sim/asked_agent.h"
#include "sim/seeds.h"
#include "support/fake_bird.h"

namespace wardmote::agent {
namespace {

using runtime::Endpoint;
using runtime::Task;
using sim::SimRuntime;
using sim::World;
using testing::BirdManners;
using testing::FakeBird;
using namespace std::chrono_literals;

constexpr std::string_view kUp =
    "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n";

constexpr std::string_view kBird = R"(
api: {listen: 127.0.0.1:9470}
checks:
  - {name: bird, bird: {socket: /run/bird.ctl}, every: 5s, timeout: 2s, fall: 3, rise: 2}
)";

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

/// With a file that holds the token, on the real disk.
std::string reporters_config() {
  const std::string path = ::testing::TempDir() + "wardmote-gates-test-token";
  std::ofstream(path) << kToken << "\n";
  ::chmod(path.c_str(), 0600);
  return fmt::format(R"(
api:
  listen: 127.0.0.1:9470
  tokens: [{{name: felix, role: operator, file: {}}}]
reporters:
  - {{name: felix, timeout: 30s, reports: [live, ready]}}
gates:
  live: {{all: [felix.live]}}
  ready: {{all: [felix.ready]}}
)",
                     path);
}

class Node : public sim::AskedAgent {
 public:
  Node(World& world, std::string_view config)
      : AskedAgent(world),
        agent(us, no_service, *config::parse_config(config, observe::probe_kinds()), "ctl") {
    const Result<void> started = agent.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  ~Node() {
    us.resume();
    sim.run(us, agent.stop());
  }

  /// The status of the answer to a report that it lives and is ready.
  unsigned report(const std::string& who) {
    const runtime::HttpRequest request{
        .method = "PUT",
        .path = "/api/v1/reporters/" + who,
        .headers = {{"authorization", fmt::format("Bearer {}", kToken)},
                    {"content-type", "application/json"}},
        .body = R"({"live":true,"ready":true})"};
    const auto answer = run_task(
        sim, client,
        net::http_fetch(client, Endpoint::tcp("127.0.0.1", 9470), request, client.deadline_in(5s)));
    return answer ? static_cast<unsigned>(answer->status) : 0U;
  }
  bool ready() { return get("/readyz").status == 200; }
  bool live() { return get("/livez").status == 200; }

  const ServiceManager no_service{"", std::nullopt};
  Agent agent;
};

/// A BIRD at /run/bird.ctl, a process of its own.
class Daemon {
 public:
  explicit Daemon(World& world) : host(world.process("bird", "ctl")) {
    bird = std::make_unique<FakeBird>(
        host,
        [this](std::string name, Task<void> task) { host.spawn(std::move(name), std::move(task)); },
        Endpoint::unix_socket("/run/bird.ctl"), testing::bird_with(testing::bird_table(kUp)));
  }
  ~Daemon() { host.crash(); }

  /// Hangs up in the middle of this reply, every time from now on.
  void cut(const std::string& command) {
    std::string& reply = bird->manners().replies[command];
    reply.resize(reply.size() / 2);
    bird->manners().close_after = command;
    bird->hang_up();
  }

  SimRuntime& host;
  std::unique_ptr<FakeBird> bird;
};

SIM_TEST_SEEDS(SimGates, ABirdThatHangsUpInEveryReplyClosesTheGateAfterFallLooks, 20) {
  Daemon daemon(sim);
  Node node(sim, kBird);
  EXPECT_LE(node.time_until([&] { return node.ready(); }, 30s), 11s);
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  daemon.cut(sim.random().below(2) == 0 ? "show status" : "show protocols all");
  const Duration until = node.time_until([&] { return !node.ready(); }, 80s);
  EXPECT_LE(until, 15s + 200ms) << "fall x every";
  EXPECT_GE(until, 9s) << "and not by a single look";
  const std::string status = node.get("/api/v1/status").body;
  EXPECT_TRUE(status.contains(R"("verdict":"critical")")) << status;
  EXPECT_TRUE(status.contains(R"("outcome":"unknown")")) << status;
  EXPECT_TRUE(node.get("/api/v1/incidents").body.contains("CHECK_FAILED"));
  EXPECT_FALSE(node.get("/api/v1/incidents").body.contains("MONITOR_BLIND"));
}

SIM_TEST_SEEDS(SimGates, OneReplyThatIsCutOffClosesNothing, 5) {
  Daemon daemon(sim);
  Node node(sim, kBird);
  EXPECT_LE(node.time_until([&] { return node.ready(); }, 30s), 11s);
  const BirdManners well = daemon.bird->manners();
  for (int i = 0; i < 5; ++i) {
    daemon.cut("show protocols all");
    sim.run_for(8s);
    daemon.bird->manners() = well;
    for (int second = 0; second < 20; ++second) {
      sim.run_for(1s);
      ASSERT_TRUE(node.ready());
    }
  }
}

SIM_TEST_SEEDS(SimGates, WithoutDescriptorsOfOurOwnNobodyIsAccused, 5) {
  Daemon daemon(sim);
  Node node(sim, kBird);
  EXPECT_LE(node.time_until([&] { return node.ready(); }, 30s), 11s);
  daemon.bird->hang_up();
  node.us.exhaust_descriptors(true);
  for (int second = 0; second < 50; ++second) {
    sim.run_for(1s);
    ASSERT_TRUE(node.ready()) << second;
  }
  node.us.exhaust_descriptors(false);
}

SIM_TEST_SEEDS(SimGates, AFrozenAgentDoesNotCallItsReportersDeadOnWaking, 20) {
  Node node(sim, reporters_config());
  ASSERT_EQ(node.report("felix"), 200);
  EXPECT_LE(node.time_until([&] { return node.live() && node.ready(); }, 10s), 3s);
  sim.run_for(Duration(sim.random().below(5'000'000'000)));
  node.us.pause_for(66s);
  sim.run_for(66s);
  const auto accused = [&] { return !node.live() || !node.ready(); };
  EXPECT_GT(node.time_until(accused, 29s), 29s) << "its timeout begins anew";
  EXPECT_LE(node.time_until(accused, 10s), 5s) << "and then it is overdue";
}

}  // namespace
}  // namespace wardmote::agent
