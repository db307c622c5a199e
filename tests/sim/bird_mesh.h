#pragma once
// Three BIRDs that peer with each other, for tests of meshes.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "runtime/endpoint.h"
#include "runtime/task.h"
#include "sim/asked_agent.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_bird.h"

namespace wardmote::sim {

inline constexpr std::string_view kUp = "up     07:54:13    Established   ";
inline constexpr std::string_view kKnocks = "start  07:54:13    Connect       ";

/// Three BIRDs, each a process of one host that others know as 10.0.0.1 and so on, and whoever asks
/// the agent about them.
class BirdMesh : public AskedAgent {
 public:
  explicit BirdMesh(World& world) : AskedAgent(world) {
    for (std::size_t i = 0; i < 3; ++i) {
      sessions_[i].fill(kUp);
      SimRuntime& process = sim.process(fmt::format("bird-{}", i + 1), "ctl");
      const auto spawn = [&process](std::string name, runtime::Task<void> task) {
        process.spawn(std::move(name), std::move(task));
      };
      birds_[i] = &process;
      fakes_[i] = std::make_unique<testing::FakeBird>(
          process, spawn, runtime::Endpoint::unix_socket(fmt::format("/run/{}.ctl", i + 1)),
          manners(i));
    }
  }
  ~BirdMesh() {
    for (SimRuntime* const bird : birds_) bird->crash();
  }

  /// What `node` says of its session with `to` from now on.
  void says(std::size_t node, std::size_t to, std::string_view state) {
    sessions_[node - 1][to - 1] = state;
    fakes_[node - 1]->manners() = manners(node - 1);
  }
  /// It answers nobody, and the others notice.
  void stop(std::size_t node) {
    birds_[node - 1]->pause();
    for (const std::size_t other : {1U, 2U, 3U}) {
      if (other != node) says(other, node, kKnocks);
    }
  }
  void go_on(std::size_t node) {
    for (const std::size_t other : {1U, 2U, 3U}) {
      if (other != node) says(other, node, kUp);
    }
    birds_[node - 1]->resume();
  }

  std::string told(std::string path) { return get(std::move(path)).body; }
  bool finds(std::string_view code) { return told("/api/v1/findings").contains(code); }

 private:
  testing::BirdManners manners(std::size_t node) {
    std::string rows;
    for (std::size_t to = 0; to < 3; ++to) {
      if (to == node) continue;
      if (!rows.empty()) rows += " ";
      rows += fmt::format("Mesh_10_0_0_{} BGP      master   {}\n", to + 1, sessions_[node][to]);
    }
    testing::BirdManners made = testing::bird_with(testing::bird_table(rows));
    std::string& status = made.replies["show status"];
    const std::string_view id = "1.1.1.1";
    status.replace(status.find(id), id.size(), fmt::format("10.0.0.{}", node + 1));
    return made;
  }

  std::array<std::array<std::string_view, 3>, 3> sessions_;
  std::array<SimRuntime*, 3> birds_{};
  std::array<std::unique_ptr<testing::FakeBird>, 3> fakes_;
};

}  // namespace wardmote::sim
