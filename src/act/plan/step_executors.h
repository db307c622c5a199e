#pragma once

#include <map>
#include <string>
#include <utility>

#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/thing.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act {

/// Those who do the steps of plans, each for the targets of one kind. They are added before any
/// plan runs, and outlive this.
class StepExecutors final : public StepExecutor {
 public:
  void add(judge::ThingKind kind, StepExecutor& executor) { by_kind_[kind] = &executor; }

  [[nodiscard]] Duration patience(const StepRequest& request) const override {
    const auto found = by_kind_.find(request.plan.target.kind);
    return found == by_kind_.end() ? Duration::zero() : found->second->patience(request);
  }
  runtime::Task<Result<std::string>> act(StepRequest request, runtime::Deadline deadline) override {
    const auto found = by_kind_.find(request.plan.target.kind);
    if (found == by_kind_.end())
      co_return fail(Errc::kInvalid, "nothing can act on a {}", request.plan.target.kind.name());
    Result<std::string> did = co_await found->second->act(std::move(request), deadline);
    co_return did;
  }

 private:
  std::map<judge::ThingKind, StepExecutor*> by_kind_;
};

}  // namespace wardmote::act
