#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/archive.h"
#include "agent/board.h"
#include "agent/change_feed.h"
#include "agent/cluster_watch.h"
#include "agent/config/config.h"
#include "agent/duty.h"
#include "agent/notifier.h"
#include "agent/scheduler.h"
#include "agent/service_manager.h"
#include "base/result.h"
#include "judge/self/starvation_guard.h"
#include "runtime/database.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "serve/api.h"
#include "serve/event_stream.h"

namespace wardmote::agent {

/// The agent: from a configuration to everything that runs. Life cycle: start(), then stop() before
/// destruction, also when start() failed; recall() before start(). Thread: the core loop. What it
/// is given outlives it.
class Agent {
 public:
  Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
        std::string node, runtime::Database* database = nullptr, NotifierOptions receivers = {});
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// Reads what earlier lives left in the database; without one it does nothing.
  runtime::Task<Result<void>> recall();
  /// Serves the API and begins to watch. kInvalid: a probe refuses its parameters; else the API
  /// cannot be served.
  Result<void> start();
  /// Ends in order, within a second and a half: what is served is answered, everything else is
  /// cancelled.
  runtime::Task<void> stop();

 private:
  Scheduler::Listeners listeners();
  Result<void> watch_clusters();
  Result<void> watch_checks();
  const serve::AgentView& fresh_view();
  void tally(TimePoint now);
  Result<void> serve(const runtime::Endpoint& at);
  runtime::Task<void> drain_servers();
  runtime::Task<void> tell_service_manager();

  runtime::Runtime& runtime_;
  const ServiceManager& service_;
  const config::Config config_;
  ChangeFeed changes_;
  Archive archive_;
  Duty duty_;
  serve::EventStream events_;
  Board board_;
  judge::StarvationGuard guard_;
  std::map<std::string, std::size_t, std::less<>> checks_;  // index by name
  std::vector<std::unique_ptr<ClusterWatch>> clusters_;
  Scheduler scheduler_;
  TimePoint next_tally_;
  serve::Api api_;
  std::vector<std::unique_ptr<runtime::HttpServer>> servers_;
  runtime::TaskGroup tasks_;
  runtime::TaskGroup closing_;  // of the servers
};

}  // namespace wardmote::agent
