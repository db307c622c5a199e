#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "act/notify/channel.h"
#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "agent/coordination/coordination.h"
#include "agents/fake_etcd.h"
#include "agents/truth.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/plan/remedy.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"

namespace wardmote::agents {

/// A node: what outlives the agents that run on it.
struct Node {
  std::string name;
  sim::SimDisk disk;
  Link store;
  Link people;
  Link cluster;
  std::set<std::string> failing;  ///< checks
};

/// What all lives see.
struct Site {
  sim::World& world;
  FakeEtcd& etcd;
  Truth& truth;
};

/// One life of an agent, from its start to its end: the parts of production that share a store, as
/// the agent puts them together.
class Life {
 public:
  Life(Site site, sim::SimRuntime& host, Node& node, LifeId id);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  /// An orderly end, unless it was killed.
  ~Life();

  /// kill -9. What it has sent goes on.
  void die();
  void pause() noexcept { us_.pause(); }
  void resume() { us_.resume(); }
  void jump_wall_clock(Duration by) noexcept { us_.jump_wall_clock(by); }
  void check(const std::string& name, bool fails);
  void find_good(const std::string& name);
  /// A person looks at the plans here, and decides.
  void rule();

  [[nodiscard]] LifeId id() const noexcept { return id_; }
  [[nodiscard]] bool leads() { return !dead_ && agents_.leadership().leads(); }
  /// The numbers of the open incidents by their roots.
  [[nodiscard]] std::map<std::string, std::int64_t> open() const;
  /// The plans that can still do something, for people.
  [[nodiscard]] std::string plans() const;
  [[nodiscard]] bool plans_ended() const;

 private:
  class FakeLine;
  class FakeExecutor;

  [[nodiscard]] incidents::NotifierOptions receivers();
  [[nodiscard]] act::PlanRunner::Doors doors();
  [[nodiscard]] Doer doer();
  runtime::Task<void> open_plans();
  runtime::Task<void> look_on();
  /// The answer comes a moment later, or when the process runs again.
  void look();
  void hear_look(const std::shared_ptr<const judge::plan::Remedy>& seen);
  [[nodiscard]] bool starts_as_told(const std::string& name) const;

  Site site_;
  sim::SimRuntime& us_;
  Node& node_;
  const LifeId id_;
  bool dead_ = false;
  /// Of what is on the way to this life.
  std::shared_ptr<Life*> self_ = std::make_shared<Life*>(this);
  const config::Config config_;
  incidents::ChangeFeed feed_{[this] { return us_.wall_now(); }};
  sim::SimDatabase database_;
  store::EmbeddedStore own_;
  FakeStore store_;
  agent::Coordination agents_;
  incidents::IncidentManager incidents_;
  std::unique_ptr<FakeExecutor> executor_;
  act::PlanRunner runner_;
  const std::unique_ptr<store::SharedNote> doubts_ = runner_.make_note();
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agents
