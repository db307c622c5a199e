#include "agent/foreman.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/repair/hands.h"
#include "agent/change_feed.h"
#include "agent/config/config.h"
#include "agent/written.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/raft/member_id.h"
#include "judge/raft/survey.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/journal.h"
#include "store/plan_record.h"
#include "store/records.h"

namespace wardmote::agent {

using judge::plan::ClusterCase;
using judge::plan::Decision;
using judge::plan::Move;
using judge::plan::Pause;
using judge::plan::Plan;
using judge::plan::PlanState;
using judge::plan::Step;
using judge::plan::StepKind;
using judge::plan::StepState;
using judge::raft::Survey;
using runtime::Task;
using store::JournalEntry;
using store::RecordChanges;
using namespace std::chrono_literals;

namespace {

constexpr Duration kBetweenLooks = 500ms;
constexpr Duration kAskAgain = 50ms;
constexpr Duration kLookPatience = 10s;
constexpr Duration kWriteAgain = 2s;
constexpr Duration kLastPatience = 1s;
/// A look that is older no longer allows an act.
constexpr Duration kStale = 5s;

/// Whether a failure leaves open if it was done.
bool is_uncertain(const Error& error) {
  return error.code == Errc::kTimeout || error.code == Errc::kClosed;
}

/// Members whose database can be copied and that can be told to join anew.
std::vector<std::string> rebuildable(const config::Cluster& cluster) {
  std::vector<std::string> names;
  for (const config::Member& member : cluster.members) {
    if (!member.repair.copy.empty() && !member.repair.rejoin.empty()) names.push_back(member.name);
  }
  return names;
}

std::string_view journal_word(PlanState state) {
  return state == PlanState::kRunning ? "approved" : to_string(state);
}

std::string subject_of(const Plan& plan) {
  return plan.member.empty() ? to_string(plan.server) : plan.member;
}

LogLevel level_of(PlanState state) {
  switch (state) {
    case PlanState::kFailed:
    case PlanState::kUnclear: return LogLevel::kError;
    case PlanState::kProposed:
    case PlanState::kRunning: return LogLevel::kWarning;
    default: return LogLevel::kInfo;
  }
}

/// Raft addresses of the servers that stay.
std::vector<std::string> remotes_of(const Plan& plan, const Survey& survey) {
  std::vector<std::string> remotes;
  for (const judge::raft::ListedServer& server : survey.servers) {
    if (server.acknowledges && server.address != plan.address) remotes.push_back(server.address);
  }
  return remotes;
}

}  // namespace

Foreman::Foreman(runtime::Runtime& runtime, runtime::Database* database,
                 const config::Config& config, ChangeFeed& feed, act::repair::Hands& hands,
                 Doors doors)
    : runtime_(runtime),
      database_(database),
      config_(config),
      feed_(feed),
      hands_(hands),
      doors_(std::move(doors)),
      planner_(config.policies),
      journal_(runtime, database),
      writes_(runtime.executor()),
      tasks_(runtime.executor()) {}

Task<Result<void>> Foreman::open() {
  if (database_ == nullptr) {
    Result<void> opened = co_await journal_.open();
    co_return opened;
  }
  store::Records records(runtime_, *database_);
  Result<void> opened = co_await records.open();
  if (opened) opened = co_await journal_.open();
  if (!opened) co_return opened;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::string prefix(store::kPlanPrefix);
  const auto plans = co_await records.load(std::move(prefix));
  if (!plans) co_return std::unexpected(plans.error());
  for (const auto& [key, record] : *plans) {
    auto plan = store::decode_plan(record, clock);
    if (plan) {
      planner_.recall(*std::move(plan));
    } else {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
    }
  }
  prefix = store::kPausePrefix;
  const auto pauses = co_await records.load(std::move(prefix));
  if (!pauses) co_return std::unexpected(pauses.error());
  for (const auto& [key, record] : *pauses) {
    auto pause = store::decode_pause(record, clock);
    // One that is not understood holds everything back: nobody knows what it was to protect.
    planner_.recall(pause ? *std::move(pause) : Pause{"", "a record not understood", {}});
  }
  co_return opened;
}

Task<void> Foreman::stop() {
  co_await tasks_.stop();
  // What was ordered a moment ago is still written down, if the disk takes it.
  const TimePoint end = runtime_.now() + kLastPatience;
  while (writes_.size() > 0 && runtime_.now() < end) {
    co_await runtime_.sleep_until(runtime_.now() + kAskAgain);
  }
  co_await writes_.stop();
}

void Foreman::reload() {
  planner_.set_policies(config_.policies);
  std::erase_if(known_, [&](const auto& each) { return cluster_of(each.first) == nullptr; });
}

const config::Cluster* Foreman::cluster_of(std::string_view name) const noexcept {
  const auto found = std::ranges::find(config_.clusters, name, &config::Cluster::name);
  return found == config_.clusters.end() ? nullptr : &*found;
}

std::optional<std::string> Foreman::frozen() const {
  if (database_ == nullptr) return "there is no 'data' folder for the journal";
  if (superseded_) return "a later agent has taken over";
  if (doors_.storm()) return "a storm rages";
  return std::nullopt;
}

std::optional<std::string> Foreman::brake(std::string_view cluster) const {
  if (auto reason = frozen()) return reason;
  return planner_.paused(cluster, runtime_.now());
}

void Foreman::heard(const std::string& cluster, std::span<const judge::Finding> findings,
                    Survey survey) {
  const config::Cluster* const its = cluster_of(cluster);
  if (its == nullptr) return;
  Known& known = known_[cluster];
  known = {std::move(survey), {findings.begin(), findings.end()}};
  const std::vector<std::string> members = rebuildable(*its);
  planner_.consider(
      ClusterCase{its->name, its->expectation.database, known.findings, known.survey, members},
      brake(cluster), runtime_.now());
  take_changes("");
  start_running();
}

Result<std::int64_t> Foreman::ask_to_rebuild(std::string_view cluster, std::string_view member,
                                             std::string by) {
  const config::Cluster* const its = cluster_of(cluster);
  if (its == nullptr) return fail(Errc::kMissing, "there is no such cluster");
  const auto known = known_.find(cluster);
  if (known == known_.end()) {
    return fail(Errc::kRejected, "no policy is for this cluster, or it was not looked at yet");
  }
  const std::vector<std::string> members = rebuildable(*its);
  const auto id =
      planner_.ask_to_rebuild(ClusterCase{its->name, its->expectation.database,
                                          known->second.findings, known->second.survey, members},
                              member, by, runtime_.now());
  if (!id) return fail(Errc::kRejected, "{}", id.error());
  take_changes(by);
  return *id;
}

Result<void> Foreman::approve(std::int64_t id, std::string by, std::string comment) {
  if (!planner_.plans().contains(id)) return fail(Errc::kMissing, "there is no such plan");
  if (auto reason = frozen()) return fail(Errc::kRejected, "{}", *reason);
  if (auto reason = planner_.approve(id, by, runtime_.now())) {
    return fail(Errc::kRejected, "{}", *reason);
  }
  take_changes(comment.empty() ? by : by + ": " + comment);
  start_running();
  return {};
}

Result<void> Foreman::reject(std::int64_t id, std::string by, std::string comment) {
  if (!planner_.plans().contains(id)) return fail(Errc::kMissing, "there is no such plan");
  if (auto reason = planner_.reject(id, by, comment, runtime_.now())) {
    return fail(Errc::kRejected, "{}", *reason);
  }
  take_changes(by);
  return {};
}

Result<void> Foreman::pause(std::string scope, std::optional<Duration> time, std::string by) {
  if (!scope.empty() && cluster_of(scope) == nullptr) {
    return fail(Errc::kMissing, "there is no such cluster");
  }
  const TimePoint now = runtime_.now();
  Pause pause{scope, by, time ? std::optional(now + *time) : std::nullopt};
  JournalEntry entry{.kind = "paused", .cluster = scope, .actor = by};
  entry.detail = time ? "for " + spell_duration(*time) : "until somebody resumes";
  const store::ClockPair clock{now, runtime_.wall_now()};
  put(std::move(entry), {{store::pause_key(scope), store::encode(pause, clock)}});
  planner_.pause(std::move(pause));
  feed_.tell(LogLevel::kWarning, "acts_paused",
             {{"plans", scope.empty() ? "all" : scope}, {"by", by}});
  return {};
}

Result<void> Foreman::resume(std::string scope, std::string by) {
  if (!planner_.resume(scope)) return fail(Errc::kMissing, "it is not paused");
  put({.kind = "resumed", .cluster = scope, .actor = by},
      {{store::pause_key(scope), std::nullopt}});
  feed_.tell(LogLevel::kInfo, "acts_resumed",
             {{"plans", scope.empty() ? "all" : scope}, {"by", by}});
  return {};
}

/// Tells of what the planner did, and has it written down. `actor` is who made it do so; empty: the
/// policy.
void Foreman::take_changes(const std::string& actor) {
  for (const std::int64_t id : planner_.take_changed()) {
    const auto found = planner_.plans().find(id);
    if (found == planner_.plans().end()) continue;
    if (found->second.incident == 0)
      planner_.set_incident(id, doors_.incident(found->second.cluster));
    const Plan& plan = found->second;
    const std::string word(journal_word(plan.state));
    JournalEntry entry = entry_of(plan, word, plan.reason.empty() ? plan.why : plan.reason);
    entry.step.clear();
    if (!actor.empty()) entry.actor = actor;
    if (plan.state == PlanState::kObserved || plan.state == PlanState::kProposed) {
      entry.detail = describe(plan) + ": " + plan.why;
    }
    tell(level_of(plan.state), "plan_" + word, plan, "", entry.detail);
    put(std::move(entry), record_of(plan));
  }
  for (const std::int64_t id : planner_.take_forgotten()) {
    put({.kind = "forgotten", .plan = id, .actor = "agent"}, {{store::plan_key(id), std::nullopt}});
  }
}

void Foreman::start_running() {
  for (const auto& [id, plan] : planner_.plans()) {
    if (plan.state != PlanState::kRunning || !known_.contains(plan.cluster)) continue;
    if (running_.insert(id).second) tasks_.spawn(fmt::format("plan {}", id), run(id));
  }
}

void Foreman::put(JournalEntry entry, RecordChanges changes) {
  last_put_ = std::make_shared<Written>(runtime_.executor());
  writes_.spawn("write journal", write(std::move(entry), std::move(changes), last_put_));
}

Task<void> Foreman::write(JournalEntry entry, RecordChanges changes,
                          std::shared_ptr<Written> written) {
  const Result<void> appended = co_await journal_.append(std::move(entry), std::move(changes));
  if (appended) {
    written->open(std::nullopt);
    co_return;
  }
  superseded_ = superseded_ || appended.error().code == Errc::kRejected;
  written->open(appended.error().describe());
  log(LogLevel::kError, "journal_not_written", {{"reason", appended.error().describe()}});
}

Task<void> Foreman::run(std::int64_t id) {
  struct Done {
    Foreman* foreman;
    std::int64_t id;
    ~Done() { foreman->running_.erase(id); }
  } const done{this, id};
  for (;;) {
    std::string cluster;
    if (const auto found = planner_.plans().find(id); found != planner_.plans().end()) {
      if (found->second.state != PlanState::kRunning || superseded_) co_return;
      cluster = found->second.cluster;
    }
    const std::optional<Survey> survey = co_await fresh_look(cluster);
    const auto found = planner_.plans().find(id);
    if (found == planner_.plans().end() || found->second.state != PlanState::kRunning) co_return;
    Plan plan = found->second;
    if (!survey) {
      wait_for(std::move(plan), "the cluster could not be looked at");
      continue;
    }
    Decision decision = decide(plan, *survey, brake(cluster), runtime_.now());
    if (decision.move == Move::kWait) {
      wait_for(std::move(plan), std::move(decision.detail));
      co_await runtime_.sleep_until(runtime_.now() + kBetweenLooks);
    } else if (decision.move == Move::kBegin) {
      Survey seen = *survey;
      co_await do_step(std::move(plan), std::move(seen));
    } else {
      co_await settle(std::move(plan), std::move(decision));
    }
  }
}

/// All members, looked at after now.
Task<std::optional<Survey>> Foreman::fresh_look(std::string cluster) {
  const TimePoint asked = runtime_.now();
  const TimePoint end = asked + kLookPatience;
  doors_.look(cluster);
  while (runtime_.now() < end) {
    const auto known = known_.find(cluster);
    if (known != known_.end() && known->second.survey.begun >= asked) {
      co_return known->second.survey;
    }
    co_await runtime_.sleep_until(runtime_.now() + kAskAgain);
  }
  co_return std::nullopt;
}

void Foreman::wait_for(Plan plan, std::string reason) {
  if (plan.reason == reason) return;
  plan.reason = std::move(reason);
  planner_.update(std::move(plan));
}

Task<void> Foreman::do_step(Plan plan, Survey survey) {
  Step& step = *plan.current();
  if (step.state == StepState::kWaiting) plan.changed = runtime_.now();
  step.state = StepState::kBegun;
  plan.token = journal_.token();
  plan.reason.clear();
  const std::string what(to_string(step.kind));
  JournalEntry intent = entry_of(plan, "intent", describe(plan));
  RecordChanges record = record_of(plan);
  const Result<void> written = co_await journal_.append(std::move(intent), std::move(record));
  if (!written) {
    // Without an intent nothing is done.
    superseded_ = superseded_ || written.error().code == Errc::kRejected;
    log(LogLevel::kError, "journal_not_written", {{"reason", written.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kWriteAgain);
    co_return;
  }
  planner_.update(plan);
  if (runtime_.now() - survey.begun > kStale || brake(plan.cluster)) {
    step.state = StepState::kWaiting;
    JournalEntry dropped =
        entry_of(plan, "dropped", "not done: too much time has passed, or paused");
    co_await write_surely(std::move(dropped), plan);
    co_return;
  }
  tell(LogLevel::kWarning, "step_begun", plan, what, describe(plan));
  act::repair::Deed deed{plan, step.kind, survey.leader, remotes_of(plan, survey)};
  const Result<std::string> did = co_await hands_.act(std::move(deed));
  step.detail = did ? *did : did.error().describe();
  std::string kind = did ? "result" : "failure";
  if (did) {
    step.state = StepState::kDone;
    plan.changed = runtime_.now();
  } else if (step.kind == StepKind::kKick && is_uncertain(did.error())) {
    kind = "unknown";  // it stays begun, and the next look shows
  } else {
    // A copy or a kick that failed changed nothing; a member that was to join anew is in between.
    const bool harmless = step.kind != StepKind::kRejoin;
    step.state = StepState::kFailed;
    plan.state = harmless ? PlanState::kFailed : PlanState::kUnclear;
    plan.reason = step.detail;
    plan.changed = runtime_.now();
  }
  tell(did ? LogLevel::kInfo : LogLevel::kError, did ? "step_done" : "step_failed", plan, what,
       step.detail);
  JournalEntry result = entry_of(plan, std::move(kind), step.detail);
  result.step = what;
  co_await write_surely(std::move(result), std::move(plan));
}

Task<void> Foreman::settle(Plan plan, Decision decision) {
  JournalEntry entry = entry_of(plan, "result", decision.detail);
  Step* const step = plan.current();
  if (decision.move == Move::kFinish) {
    step->state = StepState::kDone;
    step->detail = decision.detail;
    plan.reason.clear();
  } else if (decision.move == Move::kEnd) {
    entry.kind = "done";
    plan.state = PlanState::kDone;
  } else {
    const bool asks = decision.move == Move::kAsk;
    entry.kind = asks ? "unclear" : "failed";
    step->state = asks ? step->state : StepState::kFailed;
    plan.state = asks ? PlanState::kUnclear : PlanState::kFailed;
    plan.reason = decision.detail;
  }
  plan.changed = runtime_.now();
  if (decision.move == Move::kFinish) {
    tell(LogLevel::kInfo, "step_done", plan, entry.step, decision.detail);
  } else {
    tell(level_of(plan.state), "plan_" + entry.kind, plan, entry.step, decision.detail);
  }
  co_await write_surely(std::move(entry), std::move(plan));
}

Task<void> Foreman::write_surely(JournalEntry entry, Plan plan) {
  planner_.update(plan);
  while (!superseded_) {
    JournalEntry row = entry;
    RecordChanges record = record_of(plan);
    const Result<void> written = co_await journal_.append(std::move(row), std::move(record));
    if (written) co_return;
    superseded_ = superseded_ || written.error().code == Errc::kRejected;
    log(LogLevel::kError, "journal_not_written", {{"reason", written.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kWriteAgain);
  }
}

JournalEntry Foreman::entry_of(const Plan& plan, std::string kind, std::string detail) const {
  JournalEntry entry;
  entry.kind = std::move(kind);
  entry.plan = plan.id;
  if (const Step* const step = plan.current()) entry.step = to_string(step->kind);
  entry.cluster = plan.cluster;
  entry.subject = subject_of(plan);
  entry.actor = plan.approver.empty() ? plan.proposer : plan.approver;
  entry.incident = plan.incident;
  entry.detail = std::move(detail);
  return entry;
}

RecordChanges Foreman::record_of(const Plan& plan) const {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  return {{store::plan_key(plan.id), store::encode(plan, clock)}};
}

void Foreman::tell(LogLevel level, std::string_view kind, const Plan& plan, const std::string& step,
                   const std::string& detail) {
  boost::json::object more;
  if (plan.incident != 0) more["incident"] = plan.incident;
  feed_.tell(level, kind,
             {{"plan", std::to_string(plan.id)},
              {"cluster", plan.cluster},
              {"of", subject_of(plan)},
              {"step", step},
              {"detail", detail}},
             std::move(more));
}

}  // namespace wardmote::agent
