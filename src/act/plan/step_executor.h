#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "judge/plan/plan.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act {

/// One step to do now.
struct StepRequest {
  judge::plan::Plan plan;
  std::string step;
  std::map<std::string, std::string> moment;  ///< judge::plan::Remedy::request()
  /// It was done not long ago: to confirm that is enough, where there is a way.
  bool confirm = false;
};

/// What does the steps of plans. Thread: the core loop.
class StepExecutor {
 public:
  StepExecutor() = default;
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;
  virtual ~StepExecutor() = default;

  /// How long the step may take.
  [[nodiscard]] virtual Duration patience(const StepRequest& request) const = 0;
  /// Does the step, by the deadline at the latest. What came of it, for people. An error for which
  /// was_never_begun() is true: nothing was done. Every other: it may have been done, wholly or in
  /// part, whatever a program's exit status says: ssh ends with 255 when the connection breaks
  /// after the command.
  virtual runtime::Task<Result<std::string>> act(StepRequest request,
                                                 runtime::Deadline deadline) = 0;
};

/// Whether nothing was done: the program could not be started, or there was nobody to tell.
inline bool was_never_begun(const Error& error) noexcept {
  return error.code == Errc::kMissing || error.code == Errc::kDenied ||
         error.code == Errc::kInvalid || error.code == Errc::kRefused;
}

}  // namespace wardmote::act
