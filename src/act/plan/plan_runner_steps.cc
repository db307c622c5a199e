// How the runner carries a plan out: look, decide, write the intent down, look again, act.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/acts.h"
#include "act/plan/plan_runner.h"
#include "act/plan/step_executor.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/journal_entry.h"
#include "judge/plan/consent.h"
#include "judge/plan/machine.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/clock_pair.h"
#include "store/plan_record.h"
#include "store/records.h"

namespace wardmote::act {

using Of = judge::PlanChanged::Of;
using judge::JournalEntry;
using judge::ThingId;
using judge::plan::Decision;
using judge::plan::Effect;
using judge::plan::Move;
using judge::plan::Plan;
using judge::plan::PlanState;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kBetweenLooks = 500ms;
constexpr Duration kLookPatience = 10s;
/// While it waits for a look it wakes more often than this.
constexpr Duration kStopped = 1s;
/// A disk that takes the intent, and the last look. On what is older than that nothing is begun.
constexpr Duration kBeforeAct = 1min;

}  // namespace

/// Wakes who waits for a look, now and then until that moment.
class PlanRunner::Alarm {
 public:
  Alarm(PlanRunner& runner, TimePoint at)
      : group_(runner.alarms_),
        id_(group_.spawn("look patience", runner.wake(&runner.looked_, at))) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { group_.cancel(id_); }

 private:
  runtime::TaskGroup& group_;
  const runtime::TaskGroup::TaskId id_;
};

/// One step of a plan. Disks and people may take long, so who lets it act and the target are asked
/// once more when the intent is written down. Nothing lies between that look and the act.
class PlanRunner::StepAct final : public Act {
 public:
  StepAct(PlanRunner& runner, Plan before)
      : runner_(runner), before_(std::move(before)), term_(runner.term_) {}

  ActRecord intent() override {
    Plan begun = before_;
    begin(begun, runner_.token(), runner_.runtime_.now());
    runner_.planner_.update(begun);
    return {runner_.entry_of(begun, "intent", begun.summary), runner_.record_of(begun)};
  }

  Task<std::optional<std::string>> recheck(Deadline deadline) override {
    ThingId target = before_.target;
    const TimePoint end = std::min(deadline.at, runner_.runtime_.now() + kLookPatience);
    seen_ = co_await runner_.fresh_look(std::move(target), Deadline{end});
    decision_ = decide_again();
    if (decision_.move == Move::kBegin) co_return std::nullopt;
    co_return decision_.detail;
  }

  Task<Result<std::string>> carry_out(Deadline deadline) override {
    // Somebody may have noted something of the plan since; its step is still begun.
    const Plan plan = *runner_.running(before_.id);
    acted_ = runner_.runtime_.now();
    StepRequest request{plan, plan.current()->name, seen_->request(plan),
                        is_young(*plan.current(), acted_)};
    runner_.tell(plan, Of::kStep, "begun", request.step, plan.summary);
    auto deed = std::make_shared<Deed>(&runner_.looked_);
    const UnderWay under_way(runner_, plan);
    std::string name = "step " + request.step;
    const auto id = runner_.deeds_.spawn(
        std::move(name), do_it(&runner_.executor_, std::move(request), deadline, deed));
    const Alarm alarm(runner_, deadline.at);
    std::optional<std::string> stopped;
    for (TimePoint asked{}; !deed->over; co_await runner_.looked_.wait()) {
      if (stopped) continue;
      // A command that has not got there yet can still be stopped.
      if (const Plan* const its = runner_.running(before_.id))
        stopped = reason_to_stop(*its, runner_.runtime_.now());
      if (stopped) runner_.deeds_.cancel(id);
      if (runner_.runtime_.now() - asked < kBetweenLooks) continue;
      asked = runner_.runtime_.now();
      runner_.doors_.look(before_.target);
    }
    if (deed->did) co_return *std::move(deed->did);
    co_return fail(Errc::kRejected, "stopped: {}", stopped.value_or("the agent ends"));
  }

  ActRecord ended(const Result<std::string>& did) override {
    Effect effect = Effect::kDone;
    if (!did) effect = was_never_begun(did.error()) ? Effect::kNone : Effect::kUnknown;
    std::string detail = did ? *did : did.error().describe();
    Plan plan = now();
    const std::string step = plan.current()->name;
    std::string word = end_act(plan, effect, detail, acted_, runner_.runtime_.now());
    runner_.tell(plan, Of::kStep, did ? "done" : "failed", step, detail);
    ActRecord record{runner_.entry_of(plan, std::move(word), std::move(detail)), {}};
    record.entry.step = step;
    if (!is_ours()) return record;
    record.state = runner_.record_of(plan);
    runner_.planner_.update(std::move(plan));
    return record;
  }

  ActRecord dropped(const std::string& why) override {
    undo();
    ActRecord record{runner_.entry_of(before_, "dropped", "not done: " + why), {}};
    const auto plan = runner_.planner_.plans().find(before_.id);
    if (is_ours() && plan != runner_.planner_.plans().end())
      record.state = runner_.record_of(plan->second);
    return record;
  }

  void not_begun() override { undo(); }

  /// What the last look says, if the step was dropped.
  [[nodiscard]] const Decision& decision() const noexcept { return decision_; }

 private:
  /// Whether the plan is still the one that was begun: nobody else has led since.
  [[nodiscard]] bool is_ours() const noexcept { return runner_.term_ == term_; }

  /// The plan as it stands, its step begun. Another agent may have changed what the runner has.
  [[nodiscard]] Plan now() const {
    const auto found = runner_.planner_.plans().find(before_.id);
    if (is_ours() && found != runner_.planner_.plans().end()) return found->second;
    Plan begun = before_;
    begin(begun, runner_.token(), runner_.runtime_.now());
    return begun;
  }

  [[nodiscard]] Decision decide_again() const {
    if (!is_ours()) return {Move::kWait, "another agent has led meanwhile"};
    const Plan* const plan = runner_.running(before_.id);
    if (plan == nullptr) return {Move::kWait, "somebody has ended the plan"};
    if (seen_ == nullptr) return {Move::kWait, "it could not be looked at"};
    return decide(before_, *seen_, runner_.consent(*plan), runner_.runtime_.now());
  }

  /// The step that was about to be done was not done.
  void undo() {
    const auto found = runner_.planner_.plans().find(before_.id);
    if (!is_ours() || found == runner_.planner_.plans().end()) return;
    Plan plan = found->second;
    plan.steps = before_.steps;
    keep_notes(plan, found->second);
    if (plan.state == PlanState::kRunning) plan.changed = before_.changed;
    runner_.planner_.update(std::move(plan));
  }

  /// Its command runs on also when somebody ends the plan.
  class UnderWay {
   public:
    UnderWay(PlanRunner& runner, const Plan& plan) : runner_(runner), id_(plan.id) {
      runner_.acting_.insert_or_assign(id_, plan);
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
    ~UnderWay() { runner_.acting_.erase(id_); }

   private:
    PlanRunner& runner_;
    const std::int64_t id_;
  };

  /// What is being done, beside the looks at what it is done to.
  struct Deed {
    runtime::Event* wakes;
    std::optional<Result<std::string>> did{};
    bool over = false;
  };

  static Task<void> do_it(StepExecutor* executor, StepRequest request, Deadline deadline,
                          std::shared_ptr<Deed> deed) {
    struct Over {
      Deed* deed;
      ~Over() {
        deed->over = true;
        deed->wakes->notify();
      }
    } const over{deed.get()};
    Result<std::string> did = co_await executor->act(std::move(request), deadline);
    deed->did = std::move(did);
  }

  PlanRunner& runner_;
  const Plan before_;
  const std::uint64_t term_;
  Seen seen_;
  Decision decision_;
  TimePoint acted_;
};

const Plan* PlanRunner::running(std::int64_t id) const noexcept {
  const auto found = planner_.plans().find(id);
  const bool runs = found != planner_.plans().end() && found->second.state == PlanState::kRunning;
  return runs ? &found->second : nullptr;
}

/// What one name knows of a thing, and forbids, the other does not.
std::optional<std::string> PlanRunner::other_name(const ThingId& target) const {
  const auto known = known_.find(target);
  const std::string id = known == known_.end() ? "" : known->second->target_id();
  for (const auto& [other, seen] : known_) {
    if (other == target || id.empty() || seen->target_id() != id) continue;
    return fmt::format("{} and {} are one in two entries of the configuration: leave one of them",
                       target.name, other.name);
  }
  return std::nullopt;
}

judge::plan::Consent PlanRunner::consent(const Plan& plan) const {
  std::optional<std::string> held = brake(plan.target);
  for (const auto& [id, other] : acting_) {
    if (!held && id != plan.id && other.shares_target(plan))
      held = fmt::format("a step of plan {} is still under way", id);
  }
  return {std::move(held), withdrawn_by_policy(plan, planner_.policies())};
}

/// Also of a plan that another agent carries out: this one may have to go on with it.
void PlanRunner::note_life(const judge::plan::Remedy& seen) {
  std::vector<Plan> running;
  for (const auto& [id, plan] : planner_.plans()) {
    if (plan.state == PlanState::kRunning && plan.target == seen.target()) running.push_back(plan);
  }
  for (Plan& plan : running) {
    const bool news = judge::plan::note_life(plan, seen);
    if (news && !not_ours()) writes_.spawn("write plan", keep(record_of(plan)));
    planner_.update(std::move(plan));
  }
}

Task<void> PlanRunner::run(std::int64_t id) {
  struct Done {
    PlanRunner* runner;
    std::int64_t id;
    ~Done() { runner->running_.erase(id); }
  } const done{this, id};
  while (!log_.superseded()) {
    const Plan* plan = running(id);
    if (plan == nullptr) co_return;
    if (!is_configured(plan->target) && !not_ours()) {
      Decision end = give_up(*plan, plan->target.name + " is not configured any more");
      co_await settle(id, std::move(end));
      co_return;
    }
    ThingId target = plan->target;
    const Seen seen = co_await fresh_look(std::move(target), runtime_.deadline_in(kLookPatience));
    plan = running(id);
    if (plan == nullptr) co_return;
    if (seen == nullptr) {
      wait_for(id, "it could not be looked at");
      continue;
    }
    Decision decision = decide(*plan, *seen, consent(*plan), runtime_.now());
    // What a look shows may be another agent's to write down.
    if (auto reason = not_ours()) decision = {Move::kWait, *std::move(reason)};
    if (decision.move == Move::kWait) {
      wait_for(id, std::move(decision.detail));
      co_await runtime_.sleep_until(runtime_.now() + kBetweenLooks);
    } else if (decision.move == Move::kBegin) {
      co_await do_step(id);
    } else {
      co_await settle(id, std::move(decision));
    }
  }
}

/// What is seen before the agent is stopped for a while (SIGSTOP, a host that sleeps) is not fresh
/// when it goes on.
Task<PlanRunner::Seen> PlanRunner::fresh_look(ThingId target, Deadline deadline) {
  TimePoint asked = runtime_.now();
  TimePoint awake = asked;
  const auto before = known_.find(target);
  const Seen last = before == known_.end() ? nullptr : before->second;
  const Alarm alarm(*this, deadline.at);
  doors_.look(target);
  while (!deadline.passed(runtime_.now())) {
    const TimePoint now = runtime_.now();
    if (now - std::exchange(awake, now) > kStopped) {
      asked = now;
      doors_.look(target);
    }
    const auto known = known_.find(target);
    const bool another = known != known_.end() && known->second != last;
    if (another && known->second->begun() >= asked) co_return known->second;
    co_await looked_.wait();
  }
  co_return nullptr;
}

void PlanRunner::wait_for(std::int64_t id, std::string reason) {
  Plan plan = *running(id);
  plan.reason = std::move(reason);
  planner_.update(std::move(plan));
}

Task<void> PlanRunner::do_step(std::int64_t id) {
  const Plan* const plan = running(id);
  StepRequest request{*plan, plan->current()->name, {}};
  StepAct step(*this, *plan);
  const Deadline deadline = runtime_.deadline_in(kBeforeAct + executor_.patience(request));
  const Acts::Outcome outcome = co_await acts_.carry_out(&step, deadline);
  if (outcome != Acts::Outcome::kDropped) co_return;
  Decision decision = step.decision();
  const bool settles = decision.move != Move::kWait && decision.move != Move::kBegin;
  if (settles && running(id) != nullptr && !not_ours()) co_await settle(id, std::move(decision));
}

Task<void> PlanRunner::settle(std::int64_t id, Decision decision) {
  Plan plan = *running(id);
  ActRecord record{entry_of(plan, "", decision.detail), {}};
  record.entry.kind = judge::plan::settle(plan, decision, runtime_.now());
  record.state = record_of(plan);
  planner_.update(plan);
  const bool step_only = decision.move == Move::kFinish;
  tell(plan, step_only ? Of::kStep : Of::kPlan, step_only ? "done" : record.entry.kind,
       record.entry.step, decision.detail);
  co_await acts_.write_surely(std::move(record));
}

JournalEntry PlanRunner::entry_of(const Plan& plan, std::string kind, std::string detail) const {
  JournalEntry entry;
  entry.kind = std::move(kind);
  entry.plan = plan.id;
  if (const judge::plan::Step* const step = plan.current()) entry.step = step->name;
  entry.cluster = plan.target.name;
  entry.subject = plan.subject;
  entry.actor = plan.approver.empty() ? plan.proposer : plan.approver;
  entry.incident = plan.incident;
  entry.detail = std::move(detail);
  return entry;
}

store::RecordChanges PlanRunner::record_of(const Plan& plan) const {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  return {{store::plan_key(plan.id), store::encode(plan, clock)}};
}

void PlanRunner::tell(const Plan& plan, judge::PlanChanged::Of of, std::string word,
                      std::string step, std::string detail) {
  doors_.tell({judge::ThingKind::kPlan, std::to_string(plan.id)},
              judge::PlanChanged{.of = of,
                                 .word = std::move(word),
                                 .cluster = plan.target.name,
                                 .target = plan.subject,
                                 .step = std::move(step),
                                 .detail = std::move(detail),
                                 .incident = plan.incident});
}

}  // namespace wardmote::act
