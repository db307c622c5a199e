// An older copy of the store is in its place, and an agent knows what was ordered since.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/plan/plan_runner.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/plan/planner.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/plan_record.h"
#include "store/records.h"

namespace wardmote::act {

using judge::plan::Planner;
using runtime::Task;
using store::RecordChanges;
using namespace std::chrono_literals;

namespace {

constexpr Duration kTryAgain = 2s;
/// etcd takes 128 changes at once.
constexpr std::size_t kMostAtOnce = 64;

}  // namespace

/// Who leads on writes it over the copy. Who does not keeps it in mind until who leads has seen to
/// the loss, since it may lead before that.
void PlanRunner::remember_newer() {
  if (!opened_) return;
  newer_ = planner_;
  if (loaded_ && !not_ours()) tasks_.spawn("write plans anew", write_newer());
}

/// What was rejected, paused or done since the copy was made is so.
void PlanRunner::recall_newer(Planner& planner) {
  if (!newer_) return;
  if (!leadership_.leads() && planner.pauses().contains("")) {
    newer_.reset();
    return;
  }
  for (const auto& [id, plan] : newer_->plans()) planner.recall(plan, runtime_.now());
  for (const auto& [scope, pause] : newer_->pauses()) {
    // A pause of everything for the doubt says why, too.
    if (!scope.empty() || !standing_doubt()) planner.recall(pause);
  }
}

RecordChanges PlanRunner::records_of(const Planner& planner) const {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now(), runtime_.boot()};
  RecordChanges known;
  for (const auto& [id, plan] : planner.plans()) known.merge(record_of(plan));
  for (const auto& [scope, pause] : planner.pauses())
    known[store::pause_key(scope)] = store::encode(pause, clock);
  return known;
}

/// What that planner knows of these; nothing of those that it does not know.
RecordChanges PlanRunner::known_of(RecordChanges these, const Planner& planner) const {
  RecordChanges all = records_of(planner);
  for (auto& [key, record] : these) {
    const auto known = all.find(key);
    record = known == all.end() ? std::nullopt : std::move(known->second);
  }
  return these;
}

Task<void> PlanRunner::write_newer() {
  const std::uint64_t term = term_;
  for (;;) {
    const Result<void> kept = co_await keep_newer(&planner_);
    if (term_ != term) co_return;
    if (kept) break;
    log(LogLevel::kError, "plans_not_written_anew", {{"reason", kept.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kTryAgain);
    if (term_ != term) co_return;
  }
  newer_.reset();
}

/// What the copy has and nobody knows any more is over. People go on to order: what is written is
/// what the planner knows when the turn to write has come.
Task<Result<void>> PlanRunner::keep_newer(const Planner* planner) {
  RecordChanges all = records_of(*planner);
  for (const std::string_view prefix : {store::kPlanPrefix, store::kPausePrefix}) {
    std::string of(prefix);
    const auto old = co_await log_.load(std::move(of));
    if (!old) co_return std::unexpected(old.error());
    for (const auto& [key, record] : *old) all.try_emplace(key, std::nullopt);
  }
  while (!all.empty()) {
    RecordChanges some;
    while (!all.empty() && some.size() < kMostAtOnce) some.insert(all.extract(all.begin()));
    std::function<RecordChanges()> as_known = [this, planner, some = std::move(some)] {
      return known_of(some, *planner);
    };
    Result<void> kept = co_await log_.keep(std::move(as_known));
    if (!kept) co_return kept;
  }
  co_return Result<void>();
}

}  // namespace wardmote::act
