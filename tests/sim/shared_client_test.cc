#include "observe/shared_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/bird/bird_probe.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_bird.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using observe::Probe;
using runtime::Endpoint;
using runtime::Task;
using namespace std::chrono_literals;

constexpr const char* kSocket = "/run/calico/bird.ctl";

/// One BIRD, a process of the node's, and the checks of it.
class Node {
 public:
  explicit Node(World& world) : sim(world) {
    const auto spawn = [this](std::string name, Task<void> task) {
      daemon.spawn(std::move(name), std::move(task));
    };
    bird = std::make_unique<testing::FakeBird>(
        daemon, spawn, Endpoint::unix_socket(kSocket),
        testing::bird_with(testing::bird_table(
            "Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n")));
  }

  Probe& add_check() {
    auto made = observe::bird::make_bird_probe(host, fmt::format("bird-{}", probes.size()),
                                               {{"socket", kSocket}});
    check(made.has_value(), made ? "" : made.error().describe());
    probes.push_back(*std::move(made));
    return *probes.back();
  }
  void add_checks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_check();
  }

  /// All checks look at once.
  std::vector<Observation> look_together(Duration timeout) {
    std::vector<Observation> seen(probes.size());
    std::vector<Task<void>> looks;
    for (std::size_t i = 0; i < probes.size(); ++i)
      looks.push_back(look(probes[i].get(), host.deadline_in(timeout), &seen[i]));
    sim.run(host, runtime::run_all(host.executor(), std::move(looks)));
    return seen;
  }
  Observation look_with(Probe& probe, Duration timeout) {
    return run_task(sim, host, probe.look(host.deadline_in(timeout)));
  }

  static Task<void> look(Probe* probe, runtime::Deadline deadline, Observation* into) {
    Observation seen = co_await probe->look(deadline);
    *into = std::move(seen);
  }
  static Task<void> look_at(Node* node, std::size_t probe, Duration at, Duration timeout,
                            Observation* into) {
    co_await node->host.sleep_until(node->host.now() + at);
    co_await look(node->probes[probe].get(), node->host.deadline_in(timeout), into);
  }

  World& sim;
  SimRuntime& host = sim.host("node-1");
  SimRuntime& daemon = sim.process("bird", "node-1");
  std::unique_ptr<testing::FakeBird> bird;
  std::vector<std::unique_ptr<Probe>> probes;

 private:
  Curfew host_ends_ = Curfew(host);
  Curfew daemon_ends_ = Curfew(daemon);
};

std::ptrdiff_t count(const std::vector<Observation>& seen, Outcome outcome) {
  return std::ranges::count(seen, outcome, &Observation::outcome);
}

SIM_TEST_SEEDS(SharedClient, AThousandChecksOfOneDaemonHaveOneConnectionAndOneLook, 3) {
  Node node(sim);
  node.add_checks(1000);
  for (int round = 0; round < 5; ++round)
    EXPECT_EQ(count(node.look_together(2s), Outcome::kOk), 1000);
  EXPECT_EQ(node.bird->connections(), 1);
  EXPECT_EQ(std::ranges::count(node.bird->commands(), "show protocols all"), 5);
}

SIM_TEST_SEEDS(SharedClient, ChecksThatTakeTurnsHaveOneConnectionToo, 5) {
  Node node(sim);
  node.add_checks(20);
  std::vector<Observation> seen(20);
  std::vector<Task<void>> looks;
  for (std::size_t i = 0; i < 20; ++i)
    looks.push_back(
        Node::look_at(&node, i, Duration(sim.random().below(1'000'000'000)), 900ms, &seen[i]));
  sim.run(node.host, runtime::run_all(node.host.executor(), std::move(looks)));
  EXPECT_EQ(count(seen, Outcome::kOk), 20);
  EXPECT_EQ(node.bird->connections(), 1);
}

SIM_TEST_SEEDS(SharedClient, EachCheckSeesANewConnectionAsOftenAsAlone, 1) {
  Node node(sim);
  node.add_checks(3);
  for (int round = 0; round < 10; ++round) {
    for (const auto& probe : node.probes)
      EXPECT_EQ(node.look_with(*probe, 2s).outcome, Outcome::kOk);
  }
  EXPECT_EQ(node.bird->connections(), 1);
  EXPECT_EQ(node.look_with(*node.probes[0], 2s).outcome, Outcome::kOk);
  EXPECT_EQ(node.bird->connections(), 2);
}

SIM_TEST_SEEDS(SharedClient, AStoppedDaemonsQueueIsNotFilledByItsChecks, 5) {
  Node node(sim);
  node.add_checks(100);
  EXPECT_EQ(count(node.look_together(900ms), Outcome::kOk), 100);
  node.daemon.pause();
  const TimePoint begun = sim.now();
  const std::vector<Observation> seen = node.look_together(900ms);
  EXPECT_EQ(count(seen, Outcome::kFail), 100);
  for (const Observation& one : seen) {
    EXPECT_EQ(one.reason.code, ReasonCode::kHung) << one.reason.text;
    EXPECT_LE(one.ended - begun, 901ms);
  }
  node.daemon.resume();
  EXPECT_EQ(count(node.look_together(900ms), Outcome::kOk), 100);
  EXPECT_LE(node.bird->connections(), 3) << "one for each time, not for each check";
}

SIM_TEST_SEEDS(SharedClient, EachLookEndsByItsOwnDeadline, 5) {
  Node node(sim);
  node.add_checks(3);
  node.daemon.pause();
  std::vector<Observation> seen(3);
  std::vector<Task<void>> looks;
  const TimePoint begun = sim.now();
  looks.push_back(Node::look_at(&node, 0, 0s, 5s, &seen[0]));
  looks.push_back(Node::look_at(&node, 1, 10ms, 200ms, &seen[1]));
  looks.push_back(Node::look_at(&node, 2, 20ms, 10s, &seen[2]));
  sim.at(7s, [&] { node.daemon.resume(); });
  sim.run(node.host, runtime::run_all(node.host.executor(), std::move(looks)));
  EXPECT_EQ(seen[0].reason.code, ReasonCode::kHung);
  EXPECT_EQ(seen[1].reason.code, ReasonCode::kHung) << "who has less time does not wait";
  EXPECT_LE(seen[1].ended - begun, 211ms);
  EXPECT_EQ(seen[2].outcome, Outcome::kOk) << "who has more time takes it: slow is not dead";
}

SIM_TEST_SEEDS(SharedClient, ALookThatIsCancelledStopsNobodyElse, 5) {
  Node node(sim);
  node.add_checks(2);
  node.daemon.pause();
  runtime::TaskGroup group(node.host.executor());
  Observation never;
  Observation seen;
  std::vector<Task<void>> looks;
  looks.push_back(Node::look_at(&node, 1, 10ms, 5s, &seen));
  constexpr auto kCancel = [](Node* on, runtime::TaskGroup* of, Observation* into) -> Task<void> {
    of->spawn("cancelled", Node::look(on->probes[0].get(), on->host.deadline_in(5s), into));
    co_await on->host.sleep_until(on->host.now() + 500ms);
    co_await of->stop();
    on->daemon.resume();
  };
  looks.push_back(kCancel(&node, &group, &never));
  sim.run(node.host, runtime::run_all(node.host.executor(), std::move(looks)));
  EXPECT_EQ(never.outcome, Outcome::kUnknown);
  EXPECT_EQ(seen.outcome, Outcome::kOk) << seen.reason.text;
}

SIM_TEST_SEEDS(SharedClient, ChecksThatAskOtherwiseHaveTheirOwn, 1) {
  Node node(sim);
  node.add_check();
  auto brief =
      observe::bird::make_bird_probe(node.host, "brief", {{"socket", kSocket}, {"brief", true}});
  ASSERT_TRUE(brief.has_value());
  node.probes.push_back(*std::move(brief));
  EXPECT_EQ(count(node.look_together(2s), Outcome::kOk), 2);
  EXPECT_EQ(node.bird->connections(), 2);
}

}  // namespace
}  // namespace wardmote::sim
