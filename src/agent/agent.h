#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/plan/plan_runner.h"
#include "act/plan/step_executors.h"
#include "act/repair/executor.h"
#include "agent/archive.h"
#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/scheduler.h"
#include "agent/servers.h"
#include "agent/service_manager.h"
#include "base/result.h"
#include "config/config.h"
#include "config/reload_plan.h"
#include "incidents/change_feed.h"
#include "incidents/incident_manager.h"
#include "incidents/notifier.h"
#include "judge/self/starvation_guard.h"
#include "observe/probe.h"
#include "runtime/database.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "serve/api.h"
#include "serve/debug.h"
#include "serve/event_stream.h"
#include "serve/metrics/metrics.h"
#include "serve/renderer.h"
#include "serve/route.h"
#include "serve/version_gates.h"
#include "serve/view.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::agent {

/// Where an agent keeps what outlives it.
struct Memory {
  runtime::Database* database = nullptr;  ///< its own: history, journal; null: none
  store::Store* store = nullptr;  ///< that it may share: incidents, plans, who is told; null: none
  store::Leadership* leadership = nullptr;  ///< among those who share it; null: it is alone
  /// For what concerns no other agent, when `store` is shared; null: `store`.
  store::Store* own = nullptr;
  /// What this agent does not know of others because it is cut off from them; may be empty.
  std::function<std::optional<std::string>()> isolation{};
  /// Whether what is written reaches its folder (kMissing: that was taken away); may be empty.
  std::function<runtime::Task<Result<void>>()> in_place{};
  PairReports pairs{};  ///< of this node; may be empty
  Recoverer recoverer{};
  /// PlanRunner::Doors::mark
  std::function<void(bool doubt)> mark = [](bool) {};
  /// Why an earlier life may have known more of what forbids acts.
  std::vector<std::string> doubts{};
  std::string put_aside{};  ///< where the database lies that was damaged; empty: none was
};

/// The agent: from a configuration to everything that runs. Life cycle: start(), then stop() before
/// destruction, also when start() failed; recall() before start(). Thread: the core loop. What it
/// is given outlives it.
class Agent {
 public:
  /// `host` is the node's name unless the configuration gives one.
  Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
        std::string host, Memory memory = {}, incidents::NotifierOptions receivers = {},
        Domains domains = agent::domains());
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// How reload() comes to receivers. Without this they stay as they are. Before start().
  using MakeReceivers =
      std::function<Result<incidents::NotifierOptions>(const config::Notify& notify)>;
  void renew_receivers(MakeReceivers make) { make_receivers_ = std::move(make); }

  /// Reads what earlier lives left in the database; without one it does nothing. A full disk does
  /// not keep the agent from watching.
  runtime::Task<Result<void>> recall();
  /// Serves the API and begins to watch. kInvalid: a probe refuses its parameters; else the API
  /// cannot be served.
  Result<void> start();
  /// Goes over to `next`, whole or not at all; errors are those of start(). What is the same goes
  /// on without a look too many or too few. A new address of the API is served before an old one is
  /// given up; one that is kept
  /// goes over to other TLS settings. Between start() and stop().
  Result<config::ReloadPlan> reload(config::Config next);
  /// Keys that differ from what it was started with, and count from the next start on.
  [[nodiscard]] std::vector<std::string> restart_needed() const;
  /// Serves one more route. Before start().
  void add(serve::Route route) { api_.add(std::move(route)); }
  void add(std::vector<serve::Route> routes) { api_.add(std::move(routes)); }
  /// Measures these, too. Null: there are none. They outlive it.
  void measure(const serve::VersionGatesView* gates) noexcept { version_gates_ = gates; }
  /// For those who exchange with other agents what is wrong.
  [[nodiscard]] incidents::IncidentManager& incidents() noexcept { return incidents_; }
  /// And what else the domains tell them.
  [[nodiscard]] std::vector<store::SharedNote*> notes();
  /// Shows which configuration runs.
  void show(serve::ConfigView config) { board_.set_config(std::move(config)); }
  /// Reads the token files and looks up the groups anew; on an error all stays as it is.
  Result<void> renew_access();
  /// Ends in order, within a second and a half: what is served is answered, everything else is
  /// cancelled.
  runtime::Task<void> stop();
  /// The pairs of the configuration that it was started with.
  [[nodiscard]] const std::vector<config::Failover>& failover() const noexcept {
    return started_.failover;
  }
  /// As it is now.
  [[nodiscard]] const config::Config& config() const noexcept { return config_; }
  /// Orders may be lost (PlanRunner::doubt_orders).
  void doubt_orders(std::string why) { runner_.doubt_orders(std::move(why)); }
  /// Where acts are journaled; null until the journal is open.
  [[nodiscard]] act::ActLog* act_log() noexcept { return runner_.act_log(); }
  /// Everything that is shown, as of now.
  const serve::AgentView& fresh_view();

 private:
  [[nodiscard]] serve::Controls controls() {
    return {incidents_, incidents_.notifier(), runner_, version_gates_};
  }
  using Probes = std::vector<std::unique_ptr<observe::Probe>>;
  using Adopts = std::vector<Domain::Adopt>;

  Scheduler::Listeners listeners();
  serve::DebugSources debug_sources();
  act::PlanRunner::Doors runner_doors(std::function<void(bool doubt)> mark);
  [[nodiscard]] std::string node_of(const config::Config& config) const;
  Result<Adopts> prepare(const config::Config& next);
  Result<Probes> make_probes(const config::Config& config, const config::ReloadPlan& plan);
  void watch(const config::ReloadPlan& plan, Probes probes);
  runtime::Task<void> give_memory_back();
  runtime::Task<void> tally();
  [[nodiscard]] bool is_shared() const noexcept { return &leadership_ != &alone_; }
  /// Why the agent is degraded.
  [[nodiscard]] std::optional<std::string> complaint() const;
  runtime::Task<Result<void>> take_lead();
  runtime::Task<Result<void>> recall_plans();
  runtime::Task<void> open_journal();
  runtime::Task<void> watch_folder();
  runtime::Task<void> tell_service_manager();

  runtime::Runtime& runtime_;
  const ServiceManager& service_;
  const std::string host_;
  const Domains domain_table_;
  store::SoleLeadership alone_;
  store::Leadership& leadership_;
  config::Config config_;
  const config::FromTheStart started_;
  const std::string node_;  ///< as it was called at the start: records and messages have this name
  MakeReceivers make_receivers_;
  incidents::ChangeFeed changes_;
  Archive archive_;
  incidents::IncidentManager incidents_;
  serve::EventStream events_;
  Board board_;
  judge::StarvationGuard guard_;
  Scheduler scheduler_;
  std::optional<std::string> journal_complaint_;  ///< why it is not open yet
  std::function<runtime::Task<Result<void>>()> in_place_;
  std::function<std::optional<std::string>()> isolation_;
  const serve::VersionGatesView* version_gates_ = nullptr;
  const PairReports pairs_;
  const Recoverer recoverer_;
  std::optional<std::string> folder_lost_;  ///< why nothing that is written is found again
  act::repair::OvnExecutor executor_;
  act::StepExecutors executors_;
  act::PlanRunner runner_;
  const std::unique_ptr<store::SharedNote> doubts_ = runner_.make_note();
  serve::Renderer renderer_;
  serve::Api api_;
  std::vector<std::unique_ptr<Domain>> domains_;
  Servers servers_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
