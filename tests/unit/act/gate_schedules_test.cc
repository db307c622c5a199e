// Random upgrades, downgrades and faults for what stands over a real store: the pure gate has its
// own world (tests/version_gate), with worse ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "act/gate/gate_leader.h"
#include "act/gate/records.h"
#include "base/format.h"
#include "judge/version_gate/status.h"
#include "runtime/random.h"
#include "sim/seeds.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/store.h"
#include "unit/act/gate_fixture.h"

namespace wardmote::act::gate {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 3;
constexpr int kFaults = 25;

/// What each release is: it needs nodes and objects of the release before.
Product product_of(std::int64_t release) {
  return {.release = {.major = release},
          .min_reconciler_release = {.major = release - 1},
          .min_apiserver_release = {.major = release - 1}};
}

class GateSchedules {
 public:
  /// `paused`: processes are stopped, too, so a write may come as late as can be, and the target
  /// compares tokens, as docs/version-gate.md asks of it.
  GateSchedules(sim::World& world, bool paused)
      : world_(world),
        random_(world.seed()),
        paused_(paused),
        outside_(world_.process("outside", "host")),
        database_(outside_, disk_),
        store_(outside_, database_, "boot") {
    EXPECT_TRUE(run_task(world_, outside_, store_.open()));
    objects_.takes = 300ms;
    objects_.compares = paused;
    for (int node = 0; node < kNodes; ++node) start(node, 5);
  }

  void play() {
    for (int fault = 0; fault < kFaults && !testing::Test::HasFailure(); ++fault) {
      run_for(std::chrono::milliseconds(random_.below(8000)));
      happen();
    }
    for (auto& node : nodes_) {
      if (!node) continue;
      node->store.hangs = false;
      node->us.resume();
    }
    // All are of one release in the end, so nothing is in the way.
    for (int node = 0; node < kNodes; ++node) start(node, 6);
    const bool well = world_.run_until([&] { return all_ready(); }, 3min);
    EXPECT_TRUE(well) << story_ << (nodes_[0] ? nodes_[0]->why() : "");
  }
  [[nodiscard]] const std::string& story() const { return story_; }

 private:
  void start(int node, std::int64_t release) {
    nodes_[node].reset();
    release_[node] = release;
    story_ += fmt::format("{} n{} is {}\n", seconds(), node, release);
    nodes_[node] = std::make_unique<TestNode>(world_, disk_, objects_, fmt::format("n{}", node),
                                              product_of(release), true,
                                              fmt::format("n{} {}", node, ++lives_));
  }

  void happen() {
    const int node = static_cast<int>(random_.below(kNodes));
    const auto what = random_.below(9);
    story_ += fmt::format("{} fault {} at n{}\n", seconds(), what, node);
    TestNode& one = *nodes_[node];
    switch (what) {
      case 0:
      case 1:
      case 2: start(node, 4 + static_cast<std::int64_t>(random_.below(3))); break;
      case 3: one.store.hangs = !one.store.hangs; break;
      case 4: one.store.lost_answers = 1 + static_cast<int>(random_.below(3)); break;
      case 5:
        if (paused_) one.us.pause_for(std::chrono::milliseconds(random_.below(9000)));
        break;
      case 6: write(store::Erase{store::KeyRange::prefix(kLayout.election() + "/")}); break;
      case 7: write(store::Put{kLayout.status(), "\xff"}); break;
      case 8: objects_.fails = random_.below(2) == 0; break;
      default: break;
    }
    if (what != 8) objects_.fails = false;
  }

  void run_for(Duration time) {
    for (const TimePoint end = world_.now() + time; world_.now() < end; world_.run_for(50ms))
      look();
  }

  /// At most one writes, the newest token wins, and who serves fits what was written last. A paused
  /// node is not asked what it thinks: it cannot do anything on it.
  void look() {
    if (!paused_) EXPECT_LE(objects_.most_at_once, 1) << story_;
    if (objects_.written.empty()) return;
    const auto writer = objects_.written.back().substr(3);  // behind `n0 `
    const std::int64_t needed = writer[0] - '0' - 1;
    for (int node = 0; node < kNodes; ++node) {
      if (!nodes_[node] || !nodes_[node]->ready()) continue;
      EXPECT_GE(release_[node], needed) << story_ << "n" << node << " serves on " << writer;
    }
  }

  [[nodiscard]] bool all_ready() const {
    return std::ranges::all_of(nodes_, [](const auto& node) { return node && node->ready(); });
  }
  [[nodiscard]] double seconds() const {
    return static_cast<double>(to_ms(world_.now().time_since_epoch())) / 1000;
  }
  void write(store::StoreChange change) {
    store::Transaction one;
    one.changes.push_back(std::move(change));
    static_cast<void>(
        run_task(world_, outside_, store_.put_if(std::move(one), outside_.deadline_in(1min))));
  }

  sim::World& world_;
  runtime::Random random_;
  const bool paused_;
  sim::SimDisk disk_;
  Objects objects_;
  sim::SimRuntime& outside_;
  sim::SimDatabase database_;
  store::EmbeddedStore store_;
  std::string story_;
  int lives_ = 0;
  std::array<std::int64_t, kNodes> release_{};
  std::array<std::unique_ptr<TestNode>, kNodes> nodes_;
};

void play(sim::World& world, bool paused) {
  GateSchedules schedule(world, paused);
  schedule.play();
  if (testing::Test::HasFailure()) ADD_FAILURE() << schedule.story();
}

SIM_TEST_SEEDS(GateSchedules, NoFaultLetsTwoWriteOrAnOldNodeServe, 8) {
  play(sim, /*paused=*/false);
}

SIM_TEST_SEEDS(GateSchedules, WithATargetThatComparesTokensNoPauseDoesEither, 8) {
  play(sim, /*paused=*/true);
}

}  // namespace
}  // namespace wardmote::act::gate
