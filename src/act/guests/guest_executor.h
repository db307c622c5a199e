#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::act::guests {

/// Does the steps of a restart (judge/guest/restart_remedy.h) at the hypervisor of this host. Each
/// names the process that it is for, so that a guest which was started anew is left alone.
class GuestExecutor final : public StepExecutor {
 public:
  /// Null: there is none now.
  using Find = std::function<std::shared_ptr<runtime::Hypervisor>()>;

  explicit GuestExecutor(Find find) : find_(std::move(find)) {}

  [[nodiscard]] Duration patience(const StepRequest& request) const override;
  runtime::Task<Result<std::string>> act(StepRequest request, runtime::Deadline deadline) override;

 private:
  Find find_;
};

}  // namespace wardmote::act::guests
