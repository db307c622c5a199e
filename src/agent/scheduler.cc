#include "agent/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/self/starvation_guard.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using runtime::Deadline;
using runtime::Task;
using runtime::TaskGroup;
using namespace std::chrono_literals;

namespace {

/// Timers that fire together cost one wake-up.
constexpr Duration kGrid = 10ms;
/// New checks are looked at for the first time within this time.
constexpr Duration kFirstLooks = 1s;
/// A tick this late was missed: the process stood still.
constexpr Duration kMissed = 1s;

std::uint64_t stable_hash(std::string_view text) noexcept {
  const std::uint64_t hash = fnv1a(text);
  // The low bits of FNV alone spread short names badly.
  return hash ^ (hash >> 32);
}

/// A fixed part of `range` for this hash.
Duration part_of(Duration range, std::uint64_t hash) noexcept {
  if (range <= Duration::zero()) return {};
  const Duration part(static_cast<Duration::rep>(hash % static_cast<std::uint64_t>(range.count())));
  return range < 1s ? part : part / kGrid * kGrid;
}

}  // namespace

struct Scheduler::Check {
  Check(Schedule when, Round how)
      : schedule(std::move(when)), round(std::move(how)), hash(stable_hash(schedule.name)) {}

  /// The first tick after `t`; ticks are the multiples of the interval, moved by the phase of this
  /// check.
  [[nodiscard]] TimePoint tick_after(TimePoint t) const noexcept {
    const Duration phase = part_of(schedule.every, hash);
    const Duration since = t.time_since_epoch() - phase;
    if (since < Duration::zero()) return TimePoint(phase);
    return TimePoint((since / schedule.every + 1) * schedule.every + phase);
  }
  /// A moment within `spread`, or the next tick if that comes first. Whoever ticks within it anyway
  /// waits for his tick: a long look just before would make that one late.
  [[nodiscard]] TimePoint soon(TimePoint now, Duration spread) const noexcept {
    const TimePoint tick = tick_after(now);
    return schedule.every <= spread ? tick : std::min(tick, now + part_of(spread, hash));
  }

  Schedule schedule;
  const Round round;  ///< empty: the probe
  const std::uint64_t hash;
  std::unique_ptr<observe::Probe> probe;
  Punctuality record;
  bool looking = false;
  bool look_again = false;
  bool removed = false;    ///< a look that was under way is not heard any more
  bool postponed = false;  ///< its tick came too late, and was moved once
  std::optional<Plan::iterator> planned;
  std::optional<TaskGroup::TaskId> task;  ///< of the last look
};

bool Scheduler::ByName::operator()(const CheckPtr& a, const CheckPtr& b) const noexcept {
  return a->schedule.name < b->schedule.name;
}
bool Scheduler::ByName::operator()(const CheckPtr& a, std::string_view b) const noexcept {
  return a->schedule.name < b;
}
bool Scheduler::ByName::operator()(std::string_view a, const CheckPtr& b) const noexcept {
  return a < b->schedule.name;
}

Scheduler::Scheduler(runtime::Runtime& runtime, judge::StarvationGuard& guard, Listeners listeners)
    : runtime_(&runtime),
      guard_(&guard),
      listeners_(std::move(listeners)),
      clock_(runtime, "ticks", [this] { run_due(); }),
      tasks_(runtime.executor()) {
  tasks_.spawn("heartbeat", keep_beating());
}

Scheduler::~Scheduler() = default;

Result<void> Scheduler::add(Schedule schedule, std::unique_ptr<observe::Probe> probe) {
  const auto check = std::make_shared<Check>(std::move(schedule), Round());
  check->probe = std::move(probe);
  return start(check);
}

Result<void> Scheduler::add(Schedule schedule, Round round) {
  return start(std::make_shared<Check>(std::move(schedule), std::move(round)));
}

Result<void> Scheduler::start(const CheckPtr& check) {
  const Schedule& schedule = check->schedule;
  if (schedule.every <= Duration::zero() || schedule.timeout <= Duration::zero() ||
      schedule.timeout > schedule.every) {
    return fail(Errc::kInvalid, "check {}: timeout {} of interval {}", schedule.name,
                format_duration(schedule.timeout), format_duration(schedule.every));
  }
  remove(schedule.name);
  checks_.insert(check);
  arrivals_.push_back(check);
  clock_.at(runtime_->now());
  return {};
}

void Scheduler::renumber(std::string_view name, std::size_t number) {
  const auto found = checks_.find(name);
  if (found != checks_.end()) (*found)->schedule.number = number;
}

void Scheduler::remove(std::string_view name) {
  const auto found = checks_.find(name);
  if (found == checks_.end()) return;
  const CheckPtr check = std::move(checks_.extract(found).value());
  check->removed = true;
  if (check->planned) plan_.erase(*check->planned);
  if (check->task) tasks_.cancel(*check->task);
}

void Scheduler::look_now(std::string_view name) {
  const auto found = checks_.find(name);
  if (found == checks_.end()) return;
  const CheckPtr& check = *found;
  if (check->looking) {
    check->look_again = true;
  } else {
    begin_look(check, runtime_->now(), false);
  }
}

std::optional<Punctuality> Scheduler::punctuality(std::string_view name) const {
  const auto found = checks_.find(name);
  if (found == checks_.end()) return std::nullopt;
  return (*found)->record;
}

Task<void> Scheduler::stop() {
  checks_.clear();
  arrivals_.clear();
  plan_.clear();
  co_await clock_.stop();
  co_await tasks_.stop();
}

void Scheduler::plan(const CheckPtr& check, TimePoint due) {
  check->planned = plan_.emplace(due, check);
  clock_.at(due);
}

void Scheduler::plan_next(const CheckPtr& check, TimePoint after) {
  const Duration every = check->schedule.every;
  const TimePoint next = check->tick_after(after);
  const TimePoint due = check->tick_after(std::max(after, runtime_->now() - every));
  check->record.missed += static_cast<std::uint64_t>((due - next) / every);
  plan(check, due);
}

/// Ten thousand checks take a while to make: their first looks are spread from when the loop is
/// free for them, or those of the first half would be late before they begin.
void Scheduler::plan_arrivals() {
  const TimePoint now = runtime_->now();
  for (const CheckPtr& check : std::exchange(arrivals_, {})) {
    if (!check->removed) plan(check, check->soon(now, kFirstLooks));
  }
}

void Scheduler::run_due() {
  plan_arrivals();
  const TimePoint now = runtime_->now();
  while (!plan_.empty() && plan_.begin()->first <= now) {
    const auto [due, check] = *plan_.begin();
    plan_.erase(plan_.begin());
    check->planned.reset();
    tick(check, due);
  }
  if (!plan_.empty()) clock_.at(plan_.begin()->first);
}

void Scheduler::tick(const CheckPtr& check, TimePoint due) {
  const TimePoint now = runtime_->now();
  const Duration late = now - due;
  // Everybody who missed a tick woke at this moment. Once: a machine that never runs on time still
  // looks.
  if (late >= kMissed && !check->postponed) {
    check->postponed = true;
    check->record.missed += static_cast<std::uint64_t>(late / check->schedule.every) + 1;
    plan(check, check->soon(now, late));
    return;
  }
  check->postponed = false;
  if (check->looking) {
    ++check->record.missed;
    plan_next(check, due);
  } else {
    begin_look(check, due, true);
  }
}

void Scheduler::begin_look(const CheckPtr& check, TimePoint due, bool at_tick) {
  check->looking = true;
  check->task = tasks_.spawn("look " + check->schedule.name, look(check, due, at_tick));
}

Task<void> Scheduler::look(CheckPtr check, TimePoint due, bool at_tick) {
  // However this ends, the next look may begin.
  struct Done {
    Check* check;
    ~Done() { check->looking = check->look_again = false; }
  };
  const TimePoint tick = due;
  {
    const Done done{check.get()};
    do {
      check->look_again = false;
      const TimePoint now = runtime_->now();
      const Duration late = std::max(now - due, Duration::zero());
      const Deadline deadline{now + check->schedule.timeout};
      ++check->record.looks;
      lateness_.add(late);
      Task<void> round =
          check->round ? check->round(deadline, late) : look_with_probe(check, deadline, late);
      co_await std::move(round);
      due = runtime_->now();
    } while (check->look_again);
  }
  if (at_tick && !check->removed) plan_next(check, tick);
}

Task<void> Scheduler::look_with_probe(CheckPtr check, Deadline deadline, Duration lateness) {
  const TimePoint begun = runtime_->now();
  Observation seen = co_await check->probe->look(deadline);
  // The answer may have been there already when the look was cancelled.
  if (check->removed) co_return;
  const bool bad = seen.outcome == Outcome::kFail || seen.outcome == Outcome::kWarn ||
                   unreadable(seen.outcome, seen.reason.code);
  const bool poor = seen.reason.code == ReasonCode::kProberStarved;
  if ((bad || poor) && voids(begun, seen.reason)) {
    ++check->record.voided;
    seen.outcome = Outcome::kUnknown;
    seen.reason = {ReasonCode::kProberStarved,
                   guard_->complaint(runtime_->now()).value_or("prober starved")};
  }
  if (listeners_.observed) listeners_.observed(check->schedule, seen, lateness);
}

bool Scheduler::voids(TimePoint begun, const judge::Reason& reason) {
  const TimePoint now = runtime_->now();
  if (reason.code == ReasonCode::kProberStarved) guard_->exhausted(now);
  // After a pause the deadlines of looks may run before the heartbeat does, which would tell of it
  // too late.
  if (next_beat_ && now > *next_beat_) guard_->beat(*next_beat_, now, runtime_->wall_now());
  return guard_->voids(begun, now);
}

Task<void> Scheduler::keep_beating() {
  for (TimePoint due = runtime_->now() + kHeartbeat;;) {
    next_beat_ = due;
    co_await runtime_->sleep_until(due);
    const TimePoint now = runtime_->now();
    guard_->beat(due, now, runtime_->wall_now());
    if (listeners_.beat) listeners_.beat(std::max(now - due, Duration::zero()));
    // One late beat says it all.
    due = std::max(due, now) + kHeartbeat;
  }
}

}  // namespace wardmote::agent
