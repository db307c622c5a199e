#pragma once
// One life of an agent after the other, on one disk.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/agent.h"
#include "agent/service_manager.h"
#include "base/check.h"
#include "base/result.h"
#include "config/config.h"
#include "observe/kinds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"

namespace wardmote::sim {

/// Whoever owns it calls end() while the host still runs.
class AgentLives {
 public:
  AgentLives(World& world, SimRuntime& us) : world_(world), us_(us) {}

  void begin(std::string_view yaml) {
    database_.emplace(us_, *disk_);
    store_.emplace(us_, *database_, "boot");
    const Result<void> opened = run_task(world_, us_, store_->open());
    EXPECT_TRUE(opened) << opened.error().describe();
    auto config = config::parse_config(yaml, observe::probe_kinds());
    check(config.has_value(), "the configuration");
    agent::Memory memory{&*database_, &*store_, nullptr};
    memory.pairs = pairs;
    agent_ = std::make_unique<agent::Agent>(us_, no_service_, *std::move(config), "ctl",
                                            std::move(memory));
    const Result<void> recalled = run_task(world_, us_, agent_->recall());
    EXPECT_TRUE(recalled) << recalled.error().describe();
    const Result<void> started = agent_->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  void end() {
    if (!agent_) return;
    world_.run(us_, agent_->stop());
    agent_.reset();
    store_.reset();
    database_.reset();
  }
  /// The next life remembers nothing.
  void wipe() { disk_.emplace(); }

  agent::PairReports pairs;  ///< what the managers of failover pairs report, of the next life

 private:
  World& world_;
  SimRuntime& us_;
  std::optional<SimDisk> disk_{std::in_place};
  std::optional<SimDatabase> database_;
  std::optional<store::EmbeddedStore> store_;
  const agent::ServiceManager no_service_{"", std::nullopt};
  std::unique_ptr<agent::Agent> agent_;
};

}  // namespace wardmote::sim
