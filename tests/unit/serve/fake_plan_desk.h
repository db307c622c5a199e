#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "serve/plans.h"
#include "store/journal.h"

namespace wardmote::serve {

/// One plan that waits, of a planner that knows no cluster.
class FakePlanDesk final : public PlanDesk {
 public:
  static constexpr TimePoint kNow{std::chrono::hours(10)};

  explicit FakePlanDesk(runtime::Runtime& runtime) : journal_(runtime, nullptr) {
    judge::plan::Plan plan;
    plan.id = 3;
    plan.policy = "ghosts";
    plan.cluster = "nb";
    plan.why = "a \x1b[31mghost";
    plan.state = judge::plan::PlanState::kUnclear;
    plan.steps = {{judge::plan::StepKind::kKick, judge::plan::StepState::kBegun, ""}};
    plan.created = plan.changed = kNow - std::chrono::minutes(1);
    planner_.recall(plan);
  }

  const judge::plan::Planner& planner() const noexcept override { return planner_; }
  const store::Journal& journal() const noexcept override { return journal_; }
  std::optional<std::string> frozen() const override { return "a storm rages"; }
  std::shared_ptr<runtime::HttpHold> written() override { return nullptr; }
  Result<std::int64_t> ask_to_rebuild(std::string_view cluster, std::string_view,
                                      std::string) override {
    if (cluster != "nb") return fail(Errc::kMissing, "there is no such cluster");
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

  store::Journal journal_;

 private:
  judge::plan::Planner planner_{{}};
};

}  // namespace wardmote::serve
