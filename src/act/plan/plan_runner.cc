#include "act/plan/plan_runner.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/plan/step_executor.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/storm.h"
#include "judge/journal_entry.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/follower.h"
#include "store/plan_record.h"
#include "store/records.h"

namespace wardmote::act {

using judge::JournalEntry;
using judge::ThingId;
using judge::plan::Pause;
using judge::plan::Plan;
using judge::plan::Planner;
using judge::plan::PlanState;
using judge::plan::Remedy;
using runtime::Task;
using store::RecordChanges;

using namespace std::chrono_literals;

namespace {

constexpr Duration kLastPatience = 1s;
constexpr int kReadAttempts = 3;
constexpr Duration kTryAgain = 2s;  ///< a disk or a store that refused

}  // namespace

PlanRunner::PlanRunner(runtime::Runtime& runtime, Memory memory, Setup setup,
                       StepExecutor& executor, Doors doors)
    : runtime_(runtime),
      remembers_(memory.journal != nullptr && memory.store != nullptr),
      leadership_(memory.leadership),
      setup_(std::move(setup)),
      executor_(executor),
      doors_(std::move(doors)),
      planner_(setup_.policies),
      log_(runtime, memory.journal, memory.store, memory.leadership),
      acts_(runtime, log_, memory.leadership),
      looked_(runtime.executor()),
      all_written_(runtime.executor()),
      writes_(runtime.executor()),
      tasks_(runtime.executor()),
      alarms_(runtime.executor()),
      deeds_(runtime.executor()) {
  leadership_.listen([this](bool leads) { on_leadership(leads); });
  log_.when_void([this](const JournalEntry& row) { miss_order(row); });
  if (!memory.shared) return;
  memory.store->seen().when_set_back([this](const std::string&) { remember_newer(); });
  for (const std::string_view prefix : {store::kPlanPrefix, store::kPausePrefix}) {
    followers_.push_back(std::make_unique<store::Follower>(
        runtime, *memory.store, std::string(prefix), [this](const auto&) { follow(); }));
  }
}

Task<Result<void>> PlanRunner::open() {
  Result<void> opened = co_await log_.open();
  if (!opened) co_return opened;
  quiet_until_ = runtime_.now() + doors_.quiet;
  // An agent often begins to lead just now; then it is read once more.
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    opened = co_await load();
    if (opened || opened.error().code != Errc::kRejected) break;
  }
  if (!opened) co_return opened;
  warn_of_policies();
  opened_ = loaded_ = true;
  for (const auto& follower : followers_) follower->start();
  co_return opened;
}

void PlanRunner::follow() {
  if (!opened_ || leadership_.leads()) return;
  read_again_ = true;
  if (!std::exchange(reading_, true)) tasks_.spawn("follow plans", read_again());
}

Task<void> PlanRunner::read_again() {
  struct Done {
    PlanRunner* runner;
    ~Done() { runner->reading_ = false; }
  } const done{this};
  while (std::exchange(read_again_, false) && !leadership_.leads()) {
    const Result<void> read = co_await load();
    if (!read) read_again_ = true;
    if (!read) co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
  }
}

void PlanRunner::recall_plans(const std::map<std::string, std::string>& records,
                              const store::ClockPair& clock, Planner& planner) const {
  for (const auto& [key, record] : records) {
    auto plan = store::decode_plan(record, clock);
    if (!plan) {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      continue;
    }
    const auto known = planner_.plans().find(plan->id);
    if (known != planner_.plans().end()) keep_notes(*plan, known->second);
    planner.recall(*std::move(plan), clock.now);
  }
}

Task<Result<void>> PlanRunner::load() {
  const std::uint64_t term = term_;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  std::string prefix(store::kLastPlanKey);
  const auto last = co_await log_.load(std::move(prefix));
  if (!last) co_return std::unexpected(last.error());
  prefix = store::kPlanPrefix;
  const auto plans = co_await log_.load(std::move(prefix));
  if (!plans) co_return std::unexpected(plans.error());
  prefix = store::kPausePrefix;
  const auto pauses = co_await log_.load(std::move(prefix));
  if (!pauses) co_return std::unexpected(pauses.error());
  prefix = store::kStormKey;
  const auto storm = co_await log_.load(std::move(prefix));
  if (!storm) co_return std::unexpected(storm.error());

  if (term != term_) co_return fail(Errc::kRejected, "the lead has passed on meanwhile");
  Planner planner(setup_.policies);
  planner.number_after(planner_.last_number());
  std::optional<std::int64_t> last_number;
  for (const auto& [key, number] : *last)
    last_number = parse_number<std::int64_t>(number).value_or(0);
  planner.number_after(last_number.value_or(0));
  for (const JournalEntry& row : actions()) planner.number_after(row.plan);
  recall_plans(*plans, clock, planner);
  for (const auto& [key, record] : *pauses) {
    auto pause = pause_reader_.read(key, record, clock);
    // One that is not understood holds everything back: nobody knows what it was to protect.
    planner.recall(pause ? *std::move(pause) : Pause{"", "a record not understood", {}});
  }
  const Result<void> looked = co_await look_for_lost_orders(last_number);
  if (!looked) co_return looked;
  std::optional<Pause> of_all;
  if (planner.pauses().contains("")) of_all = planner.pauses().at("");
  recall_newer(planner);
  if (leadership_.leads()) {
    numbers_ = {};
    Result<void> marked = co_await begin_lead(&planner);
    if (marked && newer_) marked = co_await keep_newer(&planner);
    if (!marked) co_return marked;
    newer_.reset();
  } else if (of_all) {
    co_await leave_doubts_to(*std::move(of_all));
  }
  if (term != term_) co_return fail(Errc::kRejected, "the lead has passed on since they were read");
  storm_kept_ = !storm->empty();
  if (storm_kept_) storm_until_ = clock.now + judge::incident::StormPolicy{}.delay;
  planner_ = std::move(planner);
  ++term_;
  co_return Result<void>();
}

/// Who leads no more must not touch what another may be changing. What runs is looked at anew when
/// this agent leads again.
void PlanRunner::on_leadership(bool leads) {
  ++term_;
  if (!leads) log_.forget_states();
  if (!opened_) return;
  loaded_ = false;
  if (leads) tasks_.spawn("take over plans", take_over());
  // What could not be written down before is not so, and no change of the store will tell.
  if (!followers_.empty()) follow();
}

Task<void> PlanRunner::take_over() {
  const std::uint64_t term = term_;
  for (;;) {
    Result<void> taken = co_await log_.settle();
    if (taken) taken = co_await load();
    if (taken) break;
    if (term_ != term) co_return;
    log(LogLevel::kError, "plans_not_read", {{"reason", taken.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    if (term_ != term) co_return;
  }
  loaded_ = leadership_.leads();
}

Task<void> PlanRunner::stop() {
  for (const auto& follower : followers_) co_await follower->stop();
  co_await tasks_.stop();
  co_await deeds_.stop();
  if (remembers_ && opened_ && !not_ours() && !std::exchange(stopped_, true)) {
    ++unwritten_;
    writes_.spawn("keep last number", keep_last_number());
  }
  // What was ordered a moment ago is still written down, if the disk takes it.
  const TimePoint end = runtime_.now() + kLastPatience;
  alarms_.spawn("last patience", wake(&all_written_, end));
  while (unwritten_ > 0 && runtime_.now() < end) co_await all_written_.wait();
  co_await alarms_.stop();
  co_await writes_.stop();
}

Task<void> PlanRunner::wake(runtime::Event* event, TimePoint at) {
  while (runtime_.now() < at) {
    co_await runtime_.sleep_until(std::min(at, runtime_.now() + kStayAwake));
    event->notify();
  }
}

void PlanRunner::reload(Setup setup) {
  setup_ = std::move(setup);
  planner_.set_policies(setup_.policies);
  std::erase_if(known_, [&](const auto& each) { return !is_configured(each.first); });
  warn_of_policies();
  start_running();
}

void PlanRunner::warn_of_policies() const {
  for (const judge::plan::Policy& policy : setup_.policies) {
    if (!policy.act || policy.acts()) continue;
    log(LogLevel::kWarning, "policy_only_observes",
        {{"policy", policy.name}, {"reason", policy.why_it_observes().value_or("")}});
  }
}

const ThingId* PlanRunner::target_of(std::string_view name) const noexcept {
  const auto found = std::ranges::find(setup_.targets, name, &ThingId::name);
  if (found != setup_.targets.end()) return &*found;
  const auto seen =
      std::ranges::find(known_, name, [](const auto& each) { return each.first.name; });
  return seen == known_.end() ? nullptr : &seen->first;
}

bool PlanRunner::is_configured(const ThingId& target) const noexcept {
  return std::ranges::find(setup_.targets, target) != setup_.targets.end() ||
         std::ranges::find(setup_.found, target.kind) != setup_.found.end();
}

void PlanRunner::forget(const ThingId& target) {
  const bool runs = std::ranges::any_of(planner_.plans(), [&](const auto& each) {
    return each.second.target == target && each.second.open();
  });
  if (!runs) known_.erase(target);
}

std::optional<std::string> PlanRunner::barred() const {
  if (!remembers_) return "there is no 'data' folder for the journal";
  if (!opened_) return std::string(kNotOpen);
  if (log_.superseded()) return "a later agent has taken over";
  if (doors_.folder_lost()) return "the data folder was taken away, and another agent may act";
  if (auto reason = not_ours()) return reason;
  if (doors_.storm()) return "a storm rages";
  if (runtime_.now() < storm_until_) return "a storm raged when the agent ended";
  return std::nullopt;
}

std::optional<std::string> PlanRunner::frozen() const {
  if (auto reason = barred()) return reason;
  if (runtime_.now() < quiet_until_) {
    return "the agent has just started, and looks first whether a storm rages";
  }
  return std::nullopt;
}

std::optional<std::string> PlanRunner::not_ours() const {
  if (!leadership_.leads()) return leadership_.another_leads();
  if (opened_ && !loaded_) return "what the agent that led before has done was not read yet";
  return std::nullopt;
}

Result<void> PlanRunner::takes_orders() const {
  if (auto reason = not_ours()) return fail(Errc::kRejected, "{}", *reason);
  return {};
}

std::vector<std::string> PlanRunner::identities_of(const ThingId& target) const {
  const auto known = known_.find(target);
  return known == known_.end() ? std::vector<std::string>() : known->second->identities();
}

/// Whether nothing that was looked at is what was paused.
bool PlanRunner::is_adrift(const judge::plan::Pause& pause) const {
  if (pause.identities.empty()) return false;
  return std::ranges::none_of(
      known_, [&](const auto& each) { return pause.fits(each.second->identities()); });
}

std::optional<std::string> PlanRunner::brake(const ThingId& target) const {
  if (auto reason = frozen()) return reason;
  if (auto reason = other_name(target)) return reason;
  const TimePoint now = runtime_.now();
  for (const auto& [scope, pause] : planner_.pauses()) {
    if (scope.empty() || !planner_.paused(scope, now)) continue;
    const bool has_name = target_of(scope) != nullptr;
    if (has_name && !is_adrift(pause)) continue;
    return fmt::format("{} is paused by {}, and {}: it may be {}. Resume {} when it is not", scope,
                       pause.by,
                       has_name ? "what has this name now is not known to be the same"
                                : "nothing has this name now",
                       target.name, scope);
  }
  return planner_.paused(target.name, now, identities_of(target));
}

/// The freeze of a storm outlives the agent.
void PlanRunner::watch_storm() {
  const bool storm = doors_.storm() || runtime_.now() < storm_until_;
  if (storm == storm_kept_ || !remembers_) return;
  storm_kept_ = storm;
  writes_.spawn("write storm", keep_storm(storm));
}

Task<void> PlanRunner::keep_storm(bool storm) {
  JournalEntry entry{.kind = storm ? "frozen" : "released", .actor = "agent"};
  entry.detail = storm ? "a storm rages: nothing acts" : "the storm is over";
  RecordChanges changes;
  changes[std::string(store::kStormKey)] =
      storm ? std::optional<std::string>("rages") : std::nullopt;
  const ActLog::Appended written = co_await log_.append(std::move(entry), std::move(changes));
  if (written.done) co_return;
  storm_kept_ = !storm;  // the next look tries again
  log(LogLevel::kError, "journal_not_written", {{"reason", written.done.error().describe()}});
}

void PlanRunner::heard(const Seen& seen, std::span<const judge::Finding> findings) {
  if (!is_configured(seen->target()) || !opened_) return;
  const ThingId target = seen->target();
  known_[target] = seen;
  note_life(*seen);
  looked_.notify();
  if (not_ours()) return;
  watch_storm();
  learn_identity(*seen);
  planner_.consider(*seen, findings, brake(target), runtime_.now());
  take_changes("");
  start_running();
}

Result<std::int64_t> PlanRunner::propose(std::string_view target, std::string_view subject,
                                         std::string by) {
  const ThingId* const its = target_of(target);
  if (its == nullptr) return fail(Errc::kMissing, "there is no such cluster or guest");
  if (const Result<void> taken = takes_orders(); !taken) return std::unexpected(taken.error());
  const auto known = known_.find(*its);
  if (known == known_.end()) {
    return fail(Errc::kRejected, "{}",
                planner_.cares_for(*its)
                    ? "it was not looked at yet: ask again in some seconds"
                    : "no policy is for this cluster: add one with 'on: [RAFT_MEMBER_DOWN]' under "
                      "'policies'");
  }
  const auto id = planner_.propose(*known->second, subject, by, runtime_.now());
  if (!id) return fail(Errc::kRejected, "{}", id.error());
  take_changes(by);
  return *id;
}

Result<void> PlanRunner::approve(std::int64_t id, std::string by, std::string comment) {
  if (!planner_.plans().contains(id)) return fail(Errc::kMissing, "there is no such plan");
  if (auto reason = barred()) return fail(Errc::kRejected, "{}", *reason);
  if (auto reason = planner_.approve(id, by, runtime_.now())) {
    return fail(Errc::kRejected, "{}", *reason);
  }
  take_changes(by, comment);
  start_running();
  return {};
}

Result<void> PlanRunner::reject(std::int64_t id, std::string by, std::string comment) {
  if (!planner_.plans().contains(id)) return fail(Errc::kMissing, "there is no such plan");
  if (const Result<void> taken = takes_orders(); !taken) return taken;
  if (auto reason = planner_.reject(id, by, comment, runtime_.now())) {
    return fail(Errc::kRejected, "{}", *reason);
  }
  take_changes(by);
  return {};
}

/// Tells of what the planner did, and has it written down. `actor` is who made it do so, and with
/// which words; empty: the policy.
void PlanRunner::take_changes(const std::string& actor, const std::string& comment) {
  for (judge::plan::Change& change : planner_.take_changed()) {
    Plan& plan = change.plan;
    if (plan.incident == 0) plan.incident = doors_.incident(plan.target);
    planner_.set_incident(plan.id, plan.incident);
    JournalEntry entry = entry_of(plan, change.word, plan.reason.empty() ? plan.why : plan.reason);
    entry.step.clear();
    if (!actor.empty()) entry.actor = actor;
    if (plan.state == PlanState::kObserved || plan.state == PlanState::kProposed) {
      entry.detail = plan.summary + ": " + plan.why;
    } else if (plan.state == PlanState::kRunning) {
      entry.detail = "approved by " + plan.approver;
      if (!comment.empty()) entry.detail += ": " + comment;
    }
    tell(plan, judge::PlanChanged::Of::kPlan, change.word, "", entry.detail);
    RecordChanges records = record_of(plan);
    records.merge(number_changes(planner_.last_number()));
    put(std::move(entry), std::move(records));
  }
  for (const std::int64_t id : planner_.take_forgotten()) {
    put({.kind = "forgotten", .plan = id, .actor = "agent"}, {{store::plan_key(id), std::nullopt}});
  }
}

void PlanRunner::start_running() {
  for (const auto& [id, plan] : planner_.plans()) {
    // One whose target is not configured any more is ended.
    const bool seen = known_.contains(plan.target) || !is_configured(plan.target);
    if (plan.state != PlanState::kRunning || !seen) continue;
    if (running_.insert(id).second) tasks_.spawn(fmt::format("plan {}", id), run(id));
  }
}

void PlanRunner::put(JournalEntry entry, RecordChanges state) {
  last_put_ = std::make_shared<control::Written>(runtime_.executor());
  ++unwritten_;
  writes_.spawn("write journal", write(std::move(entry), std::move(state), last_put_));
}

/// Something that was to be written is written, or will never be.
struct PlanRunner::Unwritten {
  PlanRunner* runner;
  ~Unwritten() {
    if (--runner->unwritten_ == 0) runner->all_written_.notify();
  }
};

/// What to write down after that number was given, if anything.
RecordChanges PlanRunner::number_changes(std::int64_t last) {
  RecordChanges changes;
  if (const auto mark = numbers_.move(last))
    changes[std::string(store::kLastPlanKey)] = std::to_string(*mark);
  return changes;
}

/// No number is given any more: the next life need not leave any out.
Task<void> PlanRunner::keep_last_number() {
  const Unwritten done{this};
  RecordChanges last;
  last[std::string(store::kLastPlanKey)] = std::to_string(planner_.last_number());
  if (auto kept = co_await log_.keep(std::move(last)); !kept)
    log(LogLevel::kWarning, "number_not_written", {{"reason", kept.error().describe()}});
}

Task<void> PlanRunner::write(JournalEntry entry, RecordChanges state,
                             std::shared_ptr<control::Written> written) {
  const Unwritten done{this};
  // What forbids something and was lost without a word would be done all the same.
  std::string order;
  if (entry.kind == "paused" || entry.kind == "rejected")
    order = fmt::format("order {}", ++orders_);
  Result<void> appended = co_await log_.append_or_owe(std::move(entry), std::move(state));
  if (appended) {
    written->done(std::nullopt);
    co_return;
  }
  if (appended.error().code == Errc::kRejected) {
    written->lost(appended.error().describe());
  } else {
    written->done(appended.error().describe());
  }
  log(LogLevel::kError, "journal_not_written", {{"reason", appended.error().describe()}});
  if (!order.empty()) owe(order, true);
  while (!appended && appended.error().code != Errc::kRejected) {
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    appended = co_await log_.write_owed();
  }
  if (!order.empty()) owe(order, false);
}

}  // namespace wardmote::act
