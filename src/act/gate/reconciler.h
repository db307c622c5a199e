#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/version_gate/status.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::gate {

/// What a pass is told.
struct PassOrder {
  std::string gate;
  std::string node;
  judge::version_gate::Product own;
  /// Of the election that was won: higher than that of every leader before. A target that can
  /// compare refuses what has a lower one.
  judge::version_gate::Revision token = 0;
  /// Until when a write may be sent, as the lease and all else stand now; nothing: none may any
  /// more. To be asked before each write: a process that was stopped goes on before its timers do.
  /// Empty: nobody limits it.
  std::function<std::optional<TimePoint>()> write_until{};
};

/// Makes all objects as they should be. One pass at a time. When the leader loses the right to
/// write, its pass is cancelled, and has to have stopped writing when the cancelled task has ended.
class Reconciler {
 public:
  Reconciler() = default;
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;
  virtual ~Reconciler() = default;

  /// Success: each object is as it should be. The error says which is not, escaped.
  virtual runtime::Task<Result<void>> pass(PassOrder order) = 0;

  /// `disturbed` is called when something is no longer as the last pass has left it. One that
  /// cannot tell never calls it.
  virtual void listen(const std::function<void()>& /*disturbed*/) {}
  /// After the last pass, and before destruction.
  virtual runtime::Task<void> stop() { co_return; }
};

/// A pass is one run of a program, which gets the order as a line of JSON on its standard input and
/// ends with 0 when all is as it should be. It is killed, with all that it has started, at the end
/// of `timeout` and when it is cancelled. What it wrote a moment before may still arrive after
/// that: the wait of the next leader is for this.
class CommandReconciler final : public Reconciler {
 public:
  /// `runtime` outlives it.
  CommandReconciler(runtime::Runtime& runtime, std::vector<std::string> argv, Duration timeout)
      : runtime_(runtime), argv_(std::move(argv)), timeout_(timeout) {}

  runtime::Task<Result<void>> pass(PassOrder order) override;

 private:
  runtime::Runtime& runtime_;
  const std::vector<std::string> argv_;
  const Duration timeout_;
};

}  // namespace wardmote::act::gate
