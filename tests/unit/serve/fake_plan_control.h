#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "control/plan_control.h"
#include "control/written.h"
#include "judge/finding.h"
#include "judge/journal_entry.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/thing.h"

namespace wardmote::serve {

/// One plan that waits, of a planner that knows no cluster.
class FakePlanControl final : public control::PlanControl {
 public:
  static constexpr TimePoint kNow{std::chrono::hours(10)};

  FakePlanControl() {
    judge::plan::Plan plan;
    plan.id = 3;
    plan.policy = "ghosts";
    plan.remedy = "remove_server";
    plan.target = {judge::ThingKind::kCluster, "nb"};
    plan.why = "a \x1b[31mghost";
    plan.state = judge::plan::PlanState::kUnclear;
    plan.steps = {
        {"kick", judge::plan::Impact::kIdempotent, judge::plan::StepState::kBegun, "", 0}};
    plan.created = plan.changed = kNow - std::chrono::minutes(1);
    planner_.recall(plan, kNow);
  }

  const judge::plan::Planner& planner() const noexcept override { return planner_; }
  const std::deque<judge::JournalEntry>& actions() const noexcept override { return actions_; }
  bool stored() const noexcept override { return false; }
  std::optional<std::string> frozen() const override { return "a storm rages"; }
  std::shared_ptr<control::Written> written() override { return nullptr; }
  Result<std::int64_t> propose(std::string_view target, std::string_view, std::string) override {
    if (target != "nb") return fail(Errc::kMissing, "there is no such cluster");
    return fail(Errc::kRejected, "quorum would be lost");
  }
  Result<void> approve(std::int64_t id, std::string by, std::string) override {
    if (id != 3) return fail(Errc::kMissing, "there is no such plan");
    if (auto reason = planner_.approve(id, std::move(by), kNow)) {
      return fail(Errc::kRejected, "{}", *reason);
    }
    return {};
  }
  Result<void> reject(std::int64_t id, std::string by, std::string comment) override {
    if (auto reason = planner_.reject(id, std::move(by), std::move(comment), kNow)) {
      return fail(Errc::kRejected, "{}", *reason);
    }
    return {};
  }
  Result<void> pause(std::string scope, std::optional<Duration> time, std::string by) override {
    planner_.pause(
        {std::move(scope), std::move(by), time ? std::optional(kNow + *time) : std::nullopt});
    return {};
  }
  Result<void> resume(std::string scope, std::string) override {
    if (!planner_.resume(scope)) return fail(Errc::kMissing, "it is not paused");
    return {};
  }

  std::deque<judge::JournalEntry> actions_;

 private:
  judge::plan::Planner planner_{
      {{.name = "ghosts", .on = {judge::Code::kRaftStaleMember}, .act = true, .sole = true}}};
};

}  // namespace wardmote::serve
