#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/repair/hands.h"
#include "agent/archive.h"
#include "agent/board.h"
#include "agent/change_feed.h"
#include "agent/cluster_watch.h"
#include "agent/config/config.h"
#include "agent/duty.h"
#include "agent/foreman.h"
#include "agent/mesh_desk.h"
#include "agent/notifier.h"
#include "agent/reload_plan.h"
#include "agent/reporter_desk.h"
#include "agent/scheduler.h"
#include "agent/servers.h"
#include "agent/service_manager.h"
#include "base/result.h"
#include "judge/self/starvation_guard.h"
#include "observe/probe.h"
#include "runtime/database.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "serve/api.h"
#include "serve/debug.h"
#include "serve/event_stream.h"
#include "serve/route.h"
#include "serve/view.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::agent {

/// Where an agent keeps what outlives it.
struct Memory {
  runtime::Database* database = nullptr;  ///< its own: history, journal, plans; null: none
  store::Store* store = nullptr;          ///< that it may share: incidents, who is told; null: none
  store::Leadership* leadership = nullptr;  ///< among those who share it; null: it is alone
};

/// The agent: from a configuration to everything that runs. Life cycle: start(), then stop() before
/// destruction, also when start() failed; recall() before start(). Thread: the core loop. What it
/// is given outlives it.
class Agent {
 public:
  /// `host` is the node's name unless the configuration gives one.
  Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
        std::string host, Memory memory = {}, NotifierOptions receivers = {});
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// How reload() comes to receivers. Without this they stay as they are. Before start().
  using MakeReceivers = std::function<Result<NotifierOptions>(const config::Notify& notify)>;
  void renew_receivers(MakeReceivers make) { make_receivers_ = std::move(make); }

  /// Reads what earlier lives left in the database; without one it does nothing.
  runtime::Task<Result<void>> recall();
  /// Serves the API and begins to watch. kInvalid: a probe refuses its parameters; else the API
  /// cannot be served.
  Result<void> start();
  /// Goes over to `next`, whole or not at all; errors are those of start(). What is the same goes
  /// on without a look too many or too few. A new address of the API is served before an old one is
  /// given up; one that is kept
  /// goes over to other TLS settings. Between start() and stop().
  Result<ReloadPlan> reload(config::Config next);
  /// Serves one more route. Before start().
  void add(serve::Route route) { api_.add(std::move(route)); }
  /// Shows which configuration runs.
  void show(serve::ConfigView config) { board_.set_config(std::move(config)); }
  /// Reads the token files and looks up the groups anew; on an error all stays as it is.
  Result<void> renew_access();
  /// Ends in order, within a second and a half: what is served is answered, everything else is
  /// cancelled.
  runtime::Task<void> stop();
  /// Everything that is shown, as of now.
  const serve::AgentView& fresh_view();

 private:
  using Probes = std::vector<std::unique_ptr<observe::Probe>>;

  Scheduler::Listeners listeners();
  serve::DebugSources debug_sources();
  Foreman::Doors foreman_doors();
  [[nodiscard]] std::string node_of(const config::Config& config) const;
  Result<Probes> make_probes(const config::Config& config, const ReloadPlan& plan);
  void watch(const ReloadPlan& plan, Probes probes);
  runtime::Task<void> give_memory_back();
  void watch_clusters(const std::vector<Arrival>& arrivals);
  void tally(TimePoint now);
  runtime::Task<void> tell_service_manager();

  runtime::Runtime& runtime_;
  const ServiceManager& service_;
  const std::string host_;
  store::SoleLeadership alone_;
  config::Config config_;
  MakeReceivers make_receivers_;
  ChangeFeed changes_;
  Archive archive_;
  Duty duty_;
  serve::EventStream events_;
  Board board_;
  judge::StarvationGuard guard_;
  std::vector<std::shared_ptr<ClusterWatch>> clusters_;
  Scheduler scheduler_;
  act::repair::OvnHands hands_;
  Foreman foreman_;
  ReporterDesk desk_;
  MeshDesk meshes_;
  TimePoint next_tally_;
  serve::Api api_;
  Servers servers_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
