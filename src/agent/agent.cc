#include "agent/agent.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <expected>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/plan/plan_runner.h"
#include "act/repair/executor.h"
#include "agent/access_rules.h"
#include "agent/debug.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/scheduler.h"
#include "agent/service_manager.h"
#include "base/check.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/quiet.h"
#include "config/reload_plan.h"
#include "incidents/dependencies.h"
#include "incidents/incident_manager.h"
#include "incidents/incident_of.h"
#include "incidents/notifier.h"
#include "judge/change.h"
#include "judge/incident/book.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "runtime/http.h"
#include "runtime/lateness.h"
#include "runtime/runtime.h"
#include "serve/access.h"
#include "serve/change_text.h"
#include "serve/complaint.h"
#include "serve/debug.h"
#include "serve/event_stream.h"
#include "serve/history.h"
#include "serve/incidents.h"
#include "serve/json.h"
#include "serve/lists.h"
#include "serve/notify_control.h"
#include "serve/plans.h"
#include "serve/routes.h"
#include "serve/samples.h"
#include "serve/view.h"
#include "store/leadership.h"
#include "store/shared_note.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using runtime::Task;

constexpr Duration kTallyEvery = 1s;
constexpr Duration kTallyPause = 1ms;
/// A journal that a full disk did not take.
constexpr Duration kOpenAgain = 5s;
constexpr Duration kStatusEvery = 5s;
constexpr Duration kFolderEvery = 1s;
/// After it, what began has been looked at.
constexpr Duration kSettled = 5s;

std::string status_line(const serve::AgentView& view) {
  const std::size_t clusters = serve::count_of(view, judge::ThingKind::kCluster);
  return fmt::format("{}: {} clusters, {} checks", to_string(serve::overall_verdict(view)),
                     clusters, view.checks.size() - clusters);
}

/// How the members of each cluster can be touched.
act::repair::OvnExecutor::MemberAccess access_of(const config::Config& config) {
  act::repair::OvnExecutor::MemberAccess ways;
  for (const config::Cluster& cluster : config.clusters) {
    for (const config::Member& member : cluster.members) {
      ways[cluster.name][member.name] = {member.control,       member.control_command,
                                         member.repair.copy,   member.repair.report,
                                         member.repair.rejoin, member.repair.timeout};
    }
  }
  return ways;
}

act::PlanRunner::Setup setup_of(const config::Config& config) {
  act::PlanRunner::Setup setup{config.policies, {}};
  for (const config::Cluster& cluster : config.clusters)
    setup.targets.push_back({judge::ThingKind::kCluster, cluster.name});
  if (config.guests) setup.found.push_back(judge::ThingKind("guest"));
  return setup;
}

}  // namespace

Agent::Agent(runtime::Runtime& runtime, const ServiceManager& service, config::Config config,
             std::string host, Memory memory, incidents::NotifierOptions receivers, Domains domains)
    : runtime_(runtime),
      service_(service),
      host_(std::move(host)),
      domain_table_(domains),
      alone_(runtime, memory.store),
      leadership_(memory.leadership != nullptr ? *memory.leadership : alone_),
      config_(std::move(config)),
      started_(config_),
      node_(node_of(config_)),
      changes_([this] { return runtime_.wall_now(); }),
      archive_(runtime, memory.database),
      incidents_(runtime, memory.store, leadership_, config_, node_, changes_, std::move(receivers),
                 depends_of(domains), memory.own),
      events_(runtime),
      board_(config_, node_, changes_, runtime.now()),
      scheduler_(runtime, guard_, listeners()),
      in_place_(std::move(memory.in_place)),
      isolation_(std::move(memory.isolation)),
      pairs_(std::move(memory.pairs)),
      recoverer_(std::move(memory.recoverer)),
      executor_(runtime, access_of(config_)),
      runner_(runtime,
              {.journal = memory.database,
               .store = memory.store,
               .leadership = leadership_,
               .shared = memory.own != nullptr},
              setup_of(config_), executors_, runner_doors(std::move(memory.mark))),
      renderer_(runtime),
      api_([this]() -> const serve::AgentView& { return fresh_view(); }, {}, &renderer_),
      servers_(
          runtime, [this](const runtime::HttpRequest& request) { return api_.answer(request); },
          [this](const runtime::HttpRequest& head) { return api_.refuse_unread(head); }),
      tasks_(runtime.executor()) {
  executors_.add(judge::ThingKind::kCluster, executor_);
  changes_.listen([this](const judge::Change& change, const serve::ChangeText& text) {
    archive_.keep(change, text, incidents_.hear(change));
    events_.publish(change, text);
  });
  api_.add(serve::metrics_route([this] { return controls(); }, &renderer_));
  api_.add(serve::events_route(events_));
  api_.add(serve::history_route(archive_.history(), &renderer_));
  api_.add(serve::samples_route(archive_.samples()));
  api_.add(serve::heat_map_route(archive_.samples()));
  api_.add(serve::incident_routes(incidents_, &renderer_));
  api_.add(serve::notify_routes(incidents_.notifier()));
  api_.add(serve::plan_routes(runner_));
  for (const DomainRow& row : domains) {
    domains_.push_back(row.make({.runtime = runtime_,
                                 .node = node_,
                                 .records = incidents_.records(),
                                 .board = board_,
                                 .feed = changes_,
                                 .scheduler = scheduler_,
                                 .guard = guard_,
                                 .archive = archive_,
                                 .incidents = incidents_,
                                 .plans = runner_,
                                 .executors = executors_,
                                 .renderer = renderer_,
                                 .pairs = pairs_,
                                 .recoverer = recoverer_}));
    api_.add(domains_.back()->routes());
    if (row.family == nullptr) continue;
    board_.add(*row.family);
    api_.add(serve::family_routes(*row.family, &renderer_));
  }
  api_.add(serve::debug_routes(debug_sources()));
  api_.add(serve::debug_routes_route(api_));
  for (std::string& doubt : memory.doubts) runner_.doubt_orders(std::move(doubt));
  board_.set_put_aside(std::move(memory.put_aside));
}

Agent::~Agent() = default;

Task<Result<void>> Agent::recall() {
  Result<void> recalled = co_await archive_.open();
  if (!recalled) co_return recalled;
  // On a full disk it is taken later, with the journal.
  recalled = co_await take_lead();
  if (!recalled && recalled.error().code != Errc::kExhausted) co_return recalled;
  recalled = co_await incidents_.open();
  for (const incidents::KnownFailure& known : incidents_.known_failures()) {
    board_.restore_reported(known.name, known.reason, known.seen_good, known.since, runtime_.now());
  }
  for (const auto& [check, blind] : incidents_.seen_good().checks())
    board_.restore_seen_good(check, blind);
  for (const std::unique_ptr<Domain>& domain : domains_) {
    if (recalled) recalled = co_await domain->recall();
  }
  if (recalled && is_shared()) {
    // It may be away: whoever watches must not wait for it.
    journal_complaint_ = "the shared store was not read yet";
    tasks_.spawn("open journal", open_journal());
    co_return recalled;
  }
  if (recalled) recalled = co_await recall_plans();
  if (!recalled && recalled.error().code == Errc::kExhausted) {
    log(LogLevel::kError, "journal_not_opened", {{"reason", recalled.error().describe()}});
    journal_complaint_ = recalled.error().describe();
    tasks_.spawn("open journal", open_journal());
    co_return Result<void>();
  }
  co_return recalled;
}

/// Of an agent that shares its store with nobody. With others, an election decides.
Task<Result<void>> Agent::take_lead() {
  if (&leadership_ != &alone_ || alone_.fence()) co_return Result<void>();
  Result<void> taken = co_await alone_.take();
  co_return taken;
}

/// Nothing may be written under a fence that is not taken.
Task<Result<void>> Agent::recall_plans() {
  Result<void> opened = co_await take_lead();
  if (opened) opened = co_await runner_.open();
  co_return opened;
}

/// As soon as there is room, and the shared store answers.
Task<void> Agent::open_journal() {
  for (;;) {
    const Result<void> opened = co_await recall_plans();
    if (opened) break;
    journal_complaint_ = opened.error().describe();
    co_await runtime_.sleep_until(runtime_.now() + kOpenAgain);
  }
  log(LogLevel::kInfo, "journal_opened");
  journal_complaint_.reset();
}

/// Its files may be removed, or a backup put in their place, while it runs. Then another agent is
/// let in, and neither knows of the other.
Task<void> Agent::watch_folder() {
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kFolderEvery);
    const Result<void> there = co_await in_place_();
    const bool lost = !there && there.error().code == Errc::kMissing;
    if (there && folder_lost_) log(LogLevel::kInfo, "data_folder_back");
    if (lost && !folder_lost_) {
      log(LogLevel::kError, "data_folder_lost", {{"reason", there.error().describe()}});
    }
    if (there) folder_lost_.reset();
    if (lost) folder_lost_ = there.error().context;
    runner_.owe("data folder", folder_lost_.has_value());
  }
}

std::optional<std::string> Agent::complaint() const {
  std::optional<std::string> starved = guard_.complaint(runtime_.now());
  if (auto alone = isolation_ ? isolation_() : std::nullopt)
    starved = starved ? *starved + "; " + *alone : *alone;
  std::optional<std::string> unwritten = archive_.complaint();
  if (!unwritten) unwritten = incidents_.complaint();
  if (!unwritten) unwritten = journal_complaint_;
  if (!unwritten && !folder_lost_) return starved;
  std::string text = folder_lost_ ? fmt::format("{}: {}", serve::kFolderLost, *folder_lost_)
                                  : fmt::format("{}: {}", serve::kNotWritten, *unwritten);
  return starved ? *starved + "; " + text : text;
}

Result<void> Agent::start() {
  if (Result<void> ruled = renew_access(); !ruled) return ruled;
  const config::ReloadPlan plan = config::plan_reload({}, config_);
  if (Result<void> served = servers_.open(config_.api); !served) return served;
  Result<Probes> probes = make_probes(config_, plan);
  if (!probes) return std::unexpected(probes.error());
  Result<Adopts> adopts = prepare(config_);
  if (!adopts) return std::unexpected(adopts.error());
  for (Domain::Adopt& adopt : *adopts) adopt(config_, plan);
  watch(plan, *std::move(probes));
  service_.ready(status_line(fresh_view()));
  tasks_.spawn("service manager", tell_service_manager());
  tasks_.spawn("tally", tally());
  if (in_place_) tasks_.spawn("watch data folder", watch_folder());
  return {};
}

Result<config::ReloadPlan> Agent::reload(config::Config next) {
  config::ReloadPlan plan = config::plan_reload(config_, next);
  // What can fail comes first.
  Result<Probes> probes = make_probes(next, plan);
  if (!probes) return std::unexpected(probes.error());
  Result<Adopts> adopts = prepare(next);
  if (!adopts) return std::unexpected(adopts.error());
  Result<serve::AccessRules> rules = access_rules(next.api, node_);
  if (!rules) return std::unexpected(rules.error());
  // Always: the files of secrets that they name may hold something else.
  std::optional<Result<incidents::NotifierOptions>> receivers;
  if (make_receivers_) receivers = make_receivers_(next.notify);
  if (receivers && !*receivers) return std::unexpected(receivers->error());
  const Result<void> served = servers_.open(next.api);
  if (!served) return std::unexpected(served.error());

  service_.reloading();
  api_.set_rules(*std::move(rules));
  for (const std::string& name : plan.ended) scheduler_.remove(name);
  const judge::incident::Departures left = incidents::departures(
      config_, next, plan, depends_of(domain_table_), is_shared() ? node_ : std::string());
  config_ = std::move(next);
  board_.reload(config_, node_, plan, runtime_.now());
  for (Domain::Adopt& adopt : *adopts) adopt(config_, plan);
  incidents_.reload(left);
  board_.tell_reweighed(runtime_.now());
  if (receivers) incidents_.reload(**std::move(receivers));
  executor_.set_ways(access_of(config_));
  runner_.reload(setup_of(config_));
  watch(plan, *std::move(probes));
  servers_.retire(config_.api);
  service_.ready(status_line(fresh_view()));
  if (const std::vector<std::string> keys = restart_needed(); !keys.empty())
    log(LogLevel::kWarning, "restart_needed", {{"keys", fmt::format("{}", fmt::join(keys, " "))}});
  return plan;
}

std::vector<std::string> Agent::restart_needed() const {
  std::vector<std::string> keys = started_.differs_in(config_);
  if (node_of(config_) != node_) keys.emplace_back("node.name");
  return keys;
}

Result<void> Agent::renew_access() {
  Result<serve::AccessRules> rules = access_rules(config_.api, node_);
  if (!rules) return std::unexpected(rules.error());
  api_.set_rules(*std::move(rules));
  return {};
}

Task<void> Agent::stop() {
  service_.stopping();
  co_await servers_.stop();
  co_await renderer_.stop();
  co_await events_.stop();
  co_await tasks_.stop();
  for (const std::unique_ptr<Domain>& domain : domains_) co_await domain->stop();
  co_await runner_.stop();
  co_await scheduler_.stop();
  co_await incidents_.stop();
  co_await archive_.stop();
  log(LogLevel::kInfo, "stopped");
}

Scheduler::Listeners Agent::listeners() {
  Scheduler::Listeners listeners;
  listeners.observed = [this](const Schedule& check, const judge::Observation& seen, Duration) {
    if (seen.reason.code == judge::ReasonCode::kProberStarved) board_.voided();
    for (const std::unique_ptr<Domain>& domain : domains_) domain->observed(check.name, seen);
    board_.check_observed(check.number, seen, runtime_.now());
    if (seen.outcome != judge::Outcome::kUnknown && !seen.presumed)
      incidents_.looked(check.name, seen.outcome == judge::Outcome::kFail);
    if (const auto present = board_.failing(check.number)) incidents_.restate(check.name, *present);
    archive_.measure(check.name, seen);
  };
  listeners.beat = [this](Duration lateness) { board_.heart_beat(lateness, complaint()); };
  return listeners;
}

act::PlanRunner::Doors Agent::runner_doors(std::function<void(bool doubt)> mark) {
  return {.look =
              [this](const judge::ThingId& target) {
                const bool looked = std::ranges::any_of(
                    domains_, [&](const auto& domain) { return domain->look_for_plan(target); });
                if (!looked) scheduler_.look_now(target.name);
              },
          .tell = [this](judge::ThingId of,
                         judge::Event event) { changes_.tell(std::move(of), std::move(event)); },
          .storm = [this] { return incidents_.book().acts_frozen(); },
          .incident =
              [this](const judge::ThingId& target) {
                return incidents::incident_of(incidents_.book(), target);
              },
          .folder_lost = [this] { return folder_lost_.has_value(); },
          .mark = std::move(mark),
          .quiet = config::quiet_after_start(config_)};
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

Result<Agent::Adopts> Agent::prepare(const config::Config& next) {
  Adopts adopts;
  for (const std::unique_ptr<Domain>& domain : domains_) {
    Result<Domain::Adopt> adopt = domain->prepare(next);
    if (!adopt) return std::unexpected(adopt.error());
    adopts.push_back(*std::move(adopt));
  }
  return adopts;
}

/// By the index of the check; null for what is kept, and for what a domain looks at by itself.
Result<Agent::Probes> Agent::make_probes(const config::Config& config,
                                         const config::ReloadPlan& plan) {
  Probes probes(config.checks.size());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (plan.checks[i].action == config::ReloadAction::kKept) continue;
    const config::Check& check = config.checks[i];
    const auto domain =
        std::ranges::find(domains_, check.kind, [](const auto& one) { return &one->kind(); });
    if (domain != domains_.end()) {
      probes[i] = (*domain)->probe(check);
      continue;
    }
    auto probe = check.kind->make(runtime_, check.name, check.params);
    if (!probe) return with_context(probe, "check {}", check.name);
    probes[i] = *std::move(probe);
  }
  return probes;
}

/// Begins to look at all that is not kept.
void Agent::watch(const config::ReloadPlan& plan, Probes probes) {
  for (std::size_t i = 0; i < config_.checks.size(); ++i) {
    const config::Check& check = config_.checks[i];
    if (plan.checks[i].action == config::ReloadAction::kKept) {
      scheduler_.renumber(check.name, i);
      continue;
    }
    if (!probes[i]) continue;
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

std::vector<store::SharedNote*> Agent::notes() {
  std::vector<store::SharedNote*> notes;
  for (const std::unique_ptr<Domain>& domain : domains_) {
    if (store::SharedNote* const note = domain->note()) notes.push_back(note);
  }
  notes.push_back(doubts_.get());
  return notes;
}

const serve::AgentView& Agent::fresh_view() {
  board_.set_last_event(events_.last_id());
  board_.set_incidents(incidents_.open_incidents());
  return board_.view(runtime_.now(), runtime_.wall_now());
}

/// Costs something for each check, so not for each request, nor for all at once.
Task<void> Agent::tally() {
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kTallyEvery);
    const runtime::Lateness& late = scheduler_.lateness();
    board_.set_look_lateness({late.quantile(0.5), late.quantile(0.99), late.max()});
    std::size_t next = 0;
    do {
      next = board_.set_missed(next, [this](const std::string& name) {
        const auto record = scheduler_.punctuality(name);
        return record ? record->missed : 0;
      });
      co_await runtime_.sleep_until(runtime_.now() + kTallyPause);
    } while (next != 0);
  }
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
