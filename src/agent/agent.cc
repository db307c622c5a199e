#include "agent/agent.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "agent/cluster_watch.h"
#include "agent/config/config.h"
#include "agent/lateness.h"
#include "agent/scheduler.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "net/http_server.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "serve/event_stream.h"
#include "serve/history.h"
#include "serve/incidents.h"
#include "serve/json.h"
#include "serve/notify_desk.h"
#include "serve/routes.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using runtime::Deadline;
using runtime::Task;

/// Enough for every reader of events, and for as many who ask.
constexpr runtime::HttpLimits kHttpLimits{.connections = 2 * serve::EventStream::kReaders};
constexpr Duration kTallyEvery = 1s;
constexpr Duration kStatusEvery = 5s;
constexpr Duration kDrainTime = 1s;
constexpr Duration kDrainStep = 5ms;

std::string status_line(const serve::AgentView& view) {
  return fmt::format("{}: {} clusters, {} checks", to_string(serve::overall_verdict(view)),
                     view.clusters.size(), view.checks.size() - view.clusters.size());
}

Task<void> stop_server(runtime::HttpServer* server) {
  co_await server->stop();
}

}  // namespace

Agent::Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
             std::string node, runtime::Database* database, NotifierOptions receivers)
    : runtime_(runtime),
      service_(service),
      config_(std::move(config)),
      changes_([this] { return runtime_.wall_now(); }),
      archive_(runtime, database),
      duty_(runtime, database, config_, node, changes_, std::move(receivers)),
      events_(runtime),
      board_(config_, std::move(node), changes_, runtime.now()),
      scheduler_(runtime, guard_, listeners()),
      api_([this]() -> const serve::AgentView& { return fresh_view(); }),
      tasks_(runtime.executor()),
      closing_(runtime.executor()) {
  changes_.listen([this](const judge::Change& change) {
    archive_.keep(change, duty_.hear(change));
    events_.publish(change);
  });
  api_.add(serve::events_route(events_));
  api_.add(serve::history_route(archive_.history()));
  for (serve::Route& route : serve::incident_routes(duty_)) api_.add(std::move(route));
  for (serve::Route& route : serve::notify_routes(duty_.notifier())) api_.add(std::move(route));
  for (std::size_t i = 0; i < config_.checks.size(); ++i) checks_[config_.checks[i].name] = i;
}

Agent::~Agent() = default;

Task<Result<void>> Agent::recall() {
  Result<void> recalled = co_await archive_.open();
  if (!recalled) co_return recalled;
  recalled = co_await duty_.open();
  co_return recalled;
}

Result<void> Agent::start() {
  for (const auto& endpoint : {config_.api.listen, config_.api.socket}) {
    if (!endpoint) continue;
    if (Result<void> served = serve(*endpoint); !served) return served;
  }
  if (Result<void> watched = watch_clusters(); !watched) return watched;
  if (Result<void> watched = watch_checks(); !watched) return watched;
  service_.ready(status_line(fresh_view()));
  tasks_.spawn("service manager", tell_service_manager());
  return {};
}

Task<void> Agent::stop() {
  service_.stopping();
  co_await drain_servers();
  co_await events_.stop();
  co_await tasks_.stop();
  co_await scheduler_.stop();
  co_await duty_.stop();
  co_await archive_.stop();
  log(LogLevel::kInfo, "stopped");
}

Scheduler::Listeners Agent::listeners() {
  Scheduler::Listeners listeners;
  listeners.observed = [this](const std::string& name, const judge::Observation& seen, Duration) {
    if (seen.reason.code == judge::ReasonCode::kProberStarved) board_.voided();
    board_.check_observed(checks_.at(name), seen, runtime_.now());
  };
  listeners.beat = [this](Duration lateness) {
    board_.heart_beat(lateness, guard_.complaint(runtime_.now()));
  };
  return listeners;
}

Result<void> Agent::watch_clusters() {
  for (std::size_t i = 0; i < config_.clusters.size(); ++i) {
    const config::Cluster& cluster = config_.clusters[i];
    clusters_.push_back(
        std::make_unique<ClusterWatch>(runtime_, board_, scheduler_, guard_, i, cluster));
    ClusterWatch* const watch = clusters_.back().get();
    const Result<void> added =
        scheduler_.add({cluster.name, cluster.schedule.every, cluster.schedule.timeout},
                       [watch](Deadline deadline, Duration) { return watch->round(deadline); });
    if (!added) return added;
    watch->watch_changes(tasks_);
  }
  return {};
}

Result<void> Agent::watch_checks() {
  for (const config::Check& check : config_.checks) {
    auto probe = check.kind->make(runtime_, check.name, check.params);
    if (!probe) return with_context(probe, "check {}", check.name);
    const Result<void> added = scheduler_.add(
        {check.name, check.schedule.every, check.schedule.timeout}, *std::move(probe));
    if (!added) return added;
  }
  return {};
}

const serve::AgentView& Agent::fresh_view() {
  const TimePoint now = runtime_.now();
  if (now >= next_tally_) tally(now);
  board_.set_last_event(events_.last_id());
  return board_.view(now, runtime_.wall_now());
}

/// Costs something for each check, so not for each request.
void Agent::tally(TimePoint now) {
  const Lateness& late = scheduler_.lateness();
  board_.set_look_lateness({late.quantile(0.5), late.quantile(0.99), late.max()});
  board_.set_missed([this](const std::string& name) {
    const auto record = scheduler_.punctuality(name);
    return record ? record->missed : 0;
  });
  next_tally_ = now + kTallyEvery;
}

Result<void> Agent::serve(const runtime::Endpoint& at) {
  auto server = std::make_unique<net::StreamHttpServer>(runtime_);
  const Result<void> started =
      server->start(at, kHttpLimits,
                    [this](const runtime::HttpRequest& request) { return api_.answer(request); });
  if (!started) return with_context(started, "api {}", to_string(at));
  servers_.push_back(std::move(server));
  log(LogLevel::kInfo, "serving", {{"api", to_string(at)}});
  return {};
}

/// A client that does not read its answer must not keep the agent from ending.
Task<void> Agent::drain_servers() {
  for (const auto& server : servers_) closing_.spawn("close API", stop_server(server.get()));
  const TimePoint limit = runtime_.now() + kDrainTime;
  while (closing_.size() > 0 && runtime_.now() < limit) {
    co_await runtime_.sleep_until(runtime_.now() + kDrainStep);
  }
  co_await closing_.stop();
}

Task<void> Agent::tell_service_manager() {
  const Duration every = std::min(kStatusEvery, service_.alive_every().value_or(kStatusEvery));
  std::string told;
  for (;;) {
    service_.alive();
    std::string line = status_line(fresh_view());
    if (line != told) service_.status(line);
    told = std::move(line);
    co_await runtime_.sleep_until(runtime_.now() + every);
  }
}

}  // namespace wardmote::agent
