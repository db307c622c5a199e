// What people forbid, and what is done when nobody can be sure that it is still known.

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/act_log.h"
#include "act/plan/lost_orders.h"
#include "act/plan/plan_runner.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/journal_entry.h"
#include "judge/plan/planner.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/plan_record.h"
#include "store/records.h"
#include "store/shared_note.h"

namespace wardmote::act {

using judge::JournalEntry;
using judge::ThingId;
using judge::plan::Pause;
using judge::plan::Planner;
using runtime::Task;

namespace {

/// How a pause begins that is the agent's own.
constexpr const char* kByDoubt = "the agent: ";

}  // namespace

/// Whoever leads hears of what another agent knows to be lost.
class PlanRunner::DoubtNote final : public store::SharedNote {
 public:
  explicit DoubtNote(PlanRunner& runner) : runner_(runner) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "lost-orders"; }
  [[nodiscard]] std::string told() const override { return runner_.doubt_.value_or(""); }
  void hear(const std::string& node, const std::string& text, TimePoint) override {
    if (std::exchange(heard_[node], text) != text) runner_.hear_doubt(node, text);
  }
  /// Whichever of two says so, it is so.
  void doubt(const std::string& node, const std::string& text, TimePoint now) override {
    hear(node, text, now);
  }
  /// What it told last stands until somebody has seen to it.
  void lose(const std::string&, const std::string&, TimePoint) override {}

 private:
  PlanRunner& runner_;
  std::map<std::string, std::string> heard_;  // by node
};

std::unique_ptr<store::SharedNote> PlanRunner::make_note() {
  return std::make_unique<DoubtNote>(*this);
}

Result<void> PlanRunner::pause(std::string scope, std::optional<Duration> time, std::string by) {
  const ThingId* const target = target_of(scope);
  if (!scope.empty() && target == nullptr)
    return fail(Errc::kMissing, "there is no such cluster or guest");
  if (!opened_) return fail(Errc::kRejected, "{}, so nothing runs that could be paused", kNotOpen);
  if (const Result<void> taken = takes_orders(); !taken) return taken;
  const TimePoint now = runtime_.now();
  Pause wanted{scope, by, time ? std::optional(now + *time) : std::nullopt};
  if (target != nullptr) wanted.identities = identities_of(*target);
  const Pause& pause = planner_.pause(std::move(wanted));
  JournalEntry entry{.kind = "paused", .cluster = scope, .actor = by};
  entry.detail =
      pause.until ? "for " + spell_duration(*pause.until - now) : "until somebody resumes";
  const store::ClockPair clock{now, runtime_.wall_now(), runtime_.boot()};
  put(std::move(entry), {{store::pause_key(scope), store::encode(pause, clock)}});
  doors_.tell({judge::ThingKind::kPlans, scope.empty() ? "all" : scope},
              judge::ActsPaused{true, by});
  return {};
}

Result<void> PlanRunner::resume(std::string scope, std::string by) {
  if (!opened_) return fail(Errc::kRejected, "{}, so nothing is known of pauses", kNotOpen);
  if (const Result<void> taken = takes_orders(); !taken) return taken;
  if (!planner_.resume(scope)) return fail(Errc::kMissing, "it is not paused");
  if (scope.empty()) end_doubts();  // he has looked
  put({.kind = "resumed", .cluster = scope, .actor = by},
      {{store::pause_key(scope), std::nullopt}});
  doors_.tell({judge::ThingKind::kPlans, scope.empty() ? "all" : scope},
              judge::ActsPaused{false, by});
  return {};
}

void PlanRunner::learn_identity(const judge::plan::Remedy& seen) {
  const std::string& scope = seen.target().name;
  const Pause* const pause = planner_.learn(scope, seen.identities());
  if (pause == nullptr) return;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  writes_.spawn("write pause", keep({{store::pause_key(scope), store::encode(*pause, clock)}}));
}

/// Until it is written, the next life knows no more than the last one did.
Task<void> PlanRunner::keep(store::RecordChanges changes) {
  const Result<void> kept = co_await log_.keep(std::move(changes));
  if (!kept) log(LogLevel::kError, "state_not_written", {{"reason", kept.error().describe()}});
}

Task<Result<void>> PlanRunner::look_for_lost_orders(std::optional<std::int64_t> last_in_store) {
  if (auto lost = lost_orders(last_in_store, actions(), planner_)) doubt_orders(*std::move(lost));
  const Result<bool> lacks = co_await log_.store_lacks_orders();
  if (!lacks) co_return std::unexpected(lacks.error());
  if (*lacks)
    doubt_orders(
        "the store lacks what this agent's journal says was ordered: it is an older copy or "
        "another one");
  co_return Result<void>();
}

void PlanRunner::doubt_orders(std::string why) {
  if (doubt_) return;
  doubt_ = std::move(why);
  mark_doubt();
  see_to_doubts();
}

void PlanRunner::owe(const std::string& what, bool owes) {
  owes ? (void)owed_.insert(what) : (void)owed_.erase(what);
  mark_doubt();
}

void PlanRunner::mark_doubt() {
  const bool doubt = doubt_ || !owed_.empty();
  if (std::exchange(marked_, doubt) != doubt) doors_.mark(doubt);
}

/// Another agent tells of such a doubt of its own, or that it has none any more.
void PlanRunner::hear_doubt(const std::string& node, const std::string& why) {
  if (why.empty()) {
    doubts_of_others_.erase(node);
    return;
  }
  doubts_of_others_[node] = why;
  see_to_doubts();
  // Who leads may have seen to it. What was read of the store before may be what is lost.
  follow();
}

std::optional<std::string> PlanRunner::standing_doubt() const {
  if (doubt_ || doubts_of_others_.empty()) return doubt_;
  const auto& [node, why] = *doubts_of_others_.begin();
  return fmt::format("{} says: {}", node, why);
}

/// Who leads has paused everything because orders may be lost. So this agent need not say so again,
/// also after a restart, when whoever has looked resumes.
Task<void> PlanRunner::leave_doubts_to(Pause of_all) {
  // A person who has paused everything may know nothing of this.
  if (!of_all.by.starts_with(kByDoubt)) co_return;
  if (doubt_) {
    JournalEntry row{.kind = std::string(kDoubtedRow), .actor = "agent", .detail = *doubt_};
    static_cast<void>(co_await log_.append_surely(std::move(row), {}));
  }
  end_doubts();
}

/// Everything is paused for them.
void PlanRunner::end_doubts() {
  doubt_.reset();
  doubts_of_others_.clear();
  mark_doubt();
}

void PlanRunner::see_to_doubts() {
  log(LogLevel::kError, "orders_lost", {{"reason", standing_doubt().value_or("")}});
  if (!opened_ || !loaded_ || not_ours()) return;
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  InDoubt in_doubt = pause_in_doubt(planner_, clock);
  put(std::move(in_doubt.row), std::move(in_doubt.state));
  doubts_of_others_.clear();
}

/// An order that the person was told to hold, and that nobody will find again. One that forbade
/// something is the worse for that.
void PlanRunner::miss_order(const JournalEntry& row) {
  log(LogLevel::kWarning, "order_lost",
      {{"order", row.kind}, {"plan", std::to_string(row.plan)}, {"actor", row.actor}});
  if (row.kind != "paused" && row.kind != "rejected") return;
  doubt_orders(fmt::format("'{}' by {} could not be written down in time", row.kind, row.actor));
}

PlanRunner::InDoubt PlanRunner::pause_in_doubt(Planner& planner, const store::ClockPair& clock) {
  std::string why = standing_doubt().value_or("");
  if (!why.contains("may be lost")) why += "; what somebody paused or rejected may be lost";
  std::string by = kByDoubt + why;
  const auto held = planner.pauses().find("");
  const bool known = held != planner.pauses().end() && held->second.by.starts_with(kByDoubt);
  if (held != planner.pauses().end() && !known) {
    // A person has paused everything; whoever resumes must know of this, too.
    by += "; " + held->second.by + " had paused everything before";
    planner.resume("");
  }
  const Pause& pause = planner.pause({"", std::move(by), {}});
  return {{.kind = "paused", .actor = "agent", .detail = std::move(why)},
          {{store::pause_key(""), store::encode(pause, clock)}}};
}

/// Before anything else: up to which number plans have been given, and a pause of everything where
/// orders may be lost.
Task<Result<void>> PlanRunner::begin_lead(Planner* planner) {
  store::RecordChanges mark = number_changes(planner->last_number());
  if (!standing_doubt()) {
    Result<void> kept = co_await log_.keep(std::move(mark));
    co_return kept;
  }
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  InDoubt in_doubt = pause_in_doubt(*planner, clock);
  in_doubt.state.merge(mark);
  Result<void> kept =
      (co_await log_.append(std::move(in_doubt.row), std::move(in_doubt.state))).done;
  if (kept) end_doubts();
  co_return kept;
}

}  // namespace wardmote::act
