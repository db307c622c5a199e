#include "agent/agent.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/repair/hands.h"
#include "agent/access_rules.h"
#include "agent/cluster_watch.h"
#include "agent/config/config.h"
#include "agent/debug.h"
#include "agent/foreman.h"
#include "agent/lateness.h"
#include "agent/notifier.h"
#include "agent/reload_plan.h"
#include "agent/reporter_desk.h"
#include "agent/scheduler.h"
#include "agent/service_manager.h"
#include "agent/symptoms.h"
#include "base/check.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "serve/access.h"
#include "serve/debug.h"
#include "serve/event_stream.h"
#include "serve/history.h"
#include "serve/incidents.h"
#include "serve/json.h"
#include "serve/notify_desk.h"
#include "serve/plans.h"
#include "serve/route.h"
#include "serve/routes.h"
#include "serve/samples.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using runtime::Deadline;
using runtime::Task;

constexpr Duration kTallyEvery = 1s;
constexpr Duration kStatusEvery = 5s;
/// After it, what began has been looked at.
constexpr Duration kSettled = 5s;

std::string status_line(const serve::AgentView& view) {
  return fmt::format("{}: {} clusters, {} checks", to_string(serve::overall_verdict(view)),
                     view.clusters.size(), view.checks.size() - view.clusters.size());
}

/// How the members of each cluster can be touched.
act::repair::OvnHands::Ways ways_of(const config::Config& config) {
  act::repair::OvnHands::Ways ways;
  for (const config::Cluster& cluster : config.clusters) {
    for (const config::Member& member : cluster.members) {
      ways[cluster.name][member.name] = {member.control, member.control_command, member.repair.copy,
                                         member.repair.rejoin, member.repair.timeout};
    }
  }
  return ways;
}

/// The open incident that the cluster is the root of, else the first of a member's; 0: none.
std::int64_t incident_of(const judge::incident::Book& book, const std::string& cluster) {
  std::int64_t of_member = 0;
  for (const auto& [id, incident] : book.incidents()) {
    if (incident.phase != judge::incident::Phase::kOpen) continue;
    if (incident.root == "cluster:" + cluster) return id;
    const bool below = incident.root.starts_with("member:" + cluster + "/");
    if (below && of_member == 0) of_member = id;
  }
  return of_member;
}

}  // namespace

Agent::Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
             std::string host, Memory memory, NotifierOptions receivers)
    : runtime_(runtime),
      service_(service),
      host_(std::move(host)),
      config_(std::move(config)),
      changes_([this] { return runtime_.wall_now(); }),
      archive_(runtime, memory.database),
      duty_(runtime, memory.store, memory.leadership != nullptr ? *memory.leadership : alone_,
            config_, node_of(config_), changes_, std::move(receivers)),
      events_(runtime),
      board_(config_, node_of(config_), changes_, runtime.now()),
      scheduler_(runtime, guard_, listeners()),
      hands_(runtime, ways_of(config_)),
      foreman_(runtime, memory.database, config_, changes_, hands_, foreman_doors()),
      desk_(runtime, [this](std::string_view check) { scheduler_.look_now(check); }),
      meshes_(runtime, board_),
      api_([this]() -> const serve::AgentView& { return fresh_view(); }, {}),
      servers_(runtime,
               [this](const runtime::HttpRequest& request) { return api_.answer(request); }),
      tasks_(runtime.executor()) {
  changes_.listen([this](const judge::Change& change) {
    archive_.keep(change, duty_.hear(change));
    events_.publish(change);
  });
  api_.add(serve::metrics_route(duty_, duty_.notifier(), foreman_));
  api_.add(serve::events_route(events_));
  api_.add(serve::history_route(archive_.history()));
  api_.add(serve::samples_route(archive_.samples()));
  for (serve::Route& route : serve::incident_routes(duty_)) api_.add(std::move(route));
  for (serve::Route& route : serve::notify_routes(duty_.notifier())) api_.add(std::move(route));
  for (serve::Route& route : serve::plan_routes(foreman_)) api_.add(std::move(route));
  for (serve::Route& route : desk_.routes()) api_.add(std::move(route));
  for (serve::Route& route : serve::debug_routes(debug_sources())) api_.add(std::move(route));
  api_.add(serve::debug_routes_route(api_));
}

Agent::~Agent() = default;

Task<Result<void>> Agent::recall() {
  Result<void> recalled = co_await archive_.open();
  if (!recalled) co_return recalled;
  recalled = co_await duty_.open();
  if (recalled) recalled = co_await foreman_.open();
  co_return recalled;
}

Result<void> Agent::start() {
  if (Result<void> ruled = renew_access(); !ruled) return ruled;
  const ReloadPlan plan = plan_reload({}, config_);
  if (Result<void> served = servers_.open(config_.api); !served) return served;
  Result<Probes> probes = make_probes(config_, plan);
  if (!probes) return std::unexpected(probes.error());
  Result<ReporterDesk::Sockets> sockets = desk_.open(config_.reporters);
  if (!sockets) return std::unexpected(sockets.error());
  desk_.reload(config_.reporters, *std::move(sockets));
  meshes_.reload(config_, plan);
  watch(plan, *std::move(probes));
  service_.ready(status_line(fresh_view()));
  tasks_.spawn("service manager", tell_service_manager());
  return {};
}

Result<ReloadPlan> Agent::reload(config::Config next) {
  ReloadPlan plan = plan_reload(config_, next);
  // What can fail comes first.
  Result<Probes> probes = make_probes(next, plan);
  if (!probes) return std::unexpected(probes.error());
  Result<ReporterDesk::Sockets> sockets = desk_.open(next.reporters);
  if (!sockets) return std::unexpected(sockets.error());
  Result<serve::AccessRules> rules = access_rules(next.api, node_of(next));
  if (!rules) return std::unexpected(rules.error());
  // Always: the files of secrets that they name may hold something else.
  std::optional<Result<NotifierOptions>> receivers;
  if (make_receivers_) receivers = make_receivers_(next.notify);
  if (receivers && !*receivers) return std::unexpected(receivers->error());
  const Result<void> served = servers_.open(next.api);
  if (!served) return std::unexpected(served.error());

  service_.reloading();
  if (next.data != config_.data) log(LogLevel::kWarning, "restart_needed", {{"keys", "data"}});
  api_.set_rules(*std::move(rules));
  for (const std::string& name : plan.ended) scheduler_.remove(name);
  const std::vector<std::string> gone = begun_anew(config_, next, plan);
  config_ = std::move(next);
  desk_.reload(config_.reporters, *std::move(sockets));
  board_.reload(config_, node_of(config_), plan, runtime_.now());
  meshes_.reload(config_, plan);
  duty_.reload(gone);
  if (receivers) duty_.reload(**std::move(receivers));
  hands_.set_ways(ways_of(config_));
  foreman_.reload();
  watch(plan, *std::move(probes));
  servers_.retire(config_.api);
  service_.ready(status_line(fresh_view()));
  return plan;
}

Result<void> Agent::renew_access() {
  Result<serve::AccessRules> rules = access_rules(config_.api, node_of(config_));
  if (!rules) return std::unexpected(rules.error());
  api_.set_rules(*std::move(rules));
  return {};
}

Task<void> Agent::stop() {
  service_.stopping();
  co_await servers_.stop();
  co_await events_.stop();
  co_await tasks_.stop();
  co_await desk_.stop();
  co_await foreman_.stop();
  co_await scheduler_.stop();
  co_await duty_.stop();
  co_await archive_.stop();
  log(LogLevel::kInfo, "stopped");
}

Scheduler::Listeners Agent::listeners() {
  Scheduler::Listeners listeners;
  listeners.observed = [this](const Schedule& check, const judge::Observation& seen, Duration) {
    if (seen.reason.code == judge::ReasonCode::kProberStarved) board_.voided();
    meshes_.hear(check.name, seen);
    board_.check_observed(check.number, seen, runtime_.now());
    archive_.measure(check.name, seen);
  };
  listeners.beat = [this](Duration lateness) {
    board_.heart_beat(lateness, guard_.complaint(runtime_.now()));
  };
  return listeners;
}

Foreman::Doors Agent::foreman_doors() {
  return {.look = [this](const std::string& cluster) { scheduler_.look_now(cluster); },
          .storm = [this] { return duty_.book().acts_frozen(); },
          .incident =
              [this](const std::string& cluster) { return incident_of(duty_.book(), cluster); }};
}

serve::DebugSources Agent::debug_sources() {
  return {.tasks =
              [this] {
                std::vector<std::string> names = scheduler_.tasks();
                std::ranges::move(tasks_.names(), std::back_inserter(names));
                return debug_tasks(names);
              },
          .latency = [this] { return debug_latency(scheduler_.lateness(), fresh_view().self); }};
}

std::string Agent::node_of(const config::Config& config) const {
  return config.node.name.empty() ? host_ : config.node.name;
}

/// By the index of the check; null for what is kept.
Result<Agent::Probes> Agent::make_probes(const config::Config& config, const ReloadPlan& plan) {
  Probes probes(config.checks.size());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (plan.checks[i].fate == Fate::kKept) continue;
    const config::Check& check = config.checks[i];
    if (check.kind == &config::reporter_kind()) {
      probes[i] = desk_.probe(check);
      continue;
    }
    if (check.kind == &config::mesh_kind()) {
      probes[i] = meshes_.probe(check);
      continue;
    }
    auto probe = check.kind->make(runtime_, check.name, check.params);
    if (!probe) return with_context(probe, "check {}", check.name);
    probes[i] = *std::move(probe);
  }
  return probes;
}

/// Begins to look at all that is not kept.
void Agent::watch(const ReloadPlan& plan, Probes probes) {
  watch_clusters(plan.clusters);
  for (std::size_t i = 0; i < config_.checks.size(); ++i) {
    const config::Check& check = config_.checks[i];
    if (plan.checks[i].fate == Fate::kKept) {
      scheduler_.renumber(check.name, i);
      continue;
    }
    const Result<void> added = scheduler_.add(
        {check.name, check.schedule.every, check.schedule.timeout, i}, std::move(probes[i]));
    wardmote::check(added.has_value(), "the schedule of a valid configuration");
  }
  tasks_.spawn("give memory back", give_memory_back());
}

/// Reading a configuration and making its checks takes more than keeping them, and the allocator
/// would hold on to it.
Task<void> Agent::give_memory_back() {
  co_await runtime_.sleep_until(runtime_.now() + kSettled);
  ::malloc_trim(0);
}

void Agent::watch_clusters(const std::vector<Arrival>& arrivals) {
  const auto before = std::exchange(clusters_, {});
  std::vector<bool> kept(before.size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const config::Cluster& cluster = config_.clusters[i];
    const auto [fate, was] = arrivals[i];
    if (fate == Fate::kKept) {
      kept[was] = true;
      before[was]->move_to(i);
      clusters_.push_back(before[was]);
      continue;
    }
    const auto watch =
        std::make_shared<ClusterWatch>(runtime_, board_, scheduler_, guard_, i, cluster);
    watch->on_judged([this](ClusterWatch& judged, std::span<const judge::Finding> findings) {
      archive_.measure(board_.cluster(judged.index()));
      if (foreman_.cares_for(judged.name())) {
        foreman_.heard(judged.name(), findings, judged.survey());
      }
    });
    clusters_.push_back(watch);
    if (fate == Fate::kRetimed) watch->inherit(*before[was]);
    const Result<void> added =
        scheduler_.add({cluster.name, cluster.schedule.every, cluster.schedule.timeout},
                       [watch](Deadline deadline, Duration) { return watch->round(deadline); });
    check(added.has_value(), "the schedule of a valid configuration");
    watch->watch_changes(tasks_);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!kept[i]) before[i]->retire();
  }
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
