#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::store {

/// Who of those that share a store may act and tell. Thread: the core loop.
class Leadership {
 public:
  Leadership() = default;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;
  virtual ~Leadership() = default;

  /// Whether we lead now, and work that begins now may be done: it stops at two thirds of the
  /// lease.
  [[nodiscard]] virtual bool leads() const noexcept = 0;
  /// Why this agent takes no orders while it does not lead: who does, as far as that is known.
  [[nodiscard]] virtual std::string another_leads() const { return "another agent leads"; }
  /// What each write of the leader carries, so that one that comes too late changes nothing.
  [[nodiscard]] virtual std::optional<Compare> fence() const = 0;
  /// What this agent writes as the leader is refused for good: another one is to lead.
  virtual void give_up(const Error&) {}
  /// Calls `changed` whenever we begin to lead or do no more: also when the lease was lost and won
  /// again at once. Whoever listens is called for as long as this lives.
  virtual void listen(std::function<void(bool leads)> changed) = 0;
};

/// Of an agent that shares its store with no other. It always leads. An earlier agent on the same
/// store, which may still run, can write nothing any more after take(). Life cycle: `runtime` and
/// `store` outlive it.
class SoleLeadership final : public Leadership {
 public:
  /// `store` may be null: then there is nothing to fence.
  SoleLeadership(runtime::Runtime& runtime, Store* store) : runtime_(runtime), store_(store) {}

  /// Before anything is written. Until it has succeeded there is no fence. Errors are the store's.
  runtime::Task<Result<void>> take();

  [[nodiscard]] bool leads() const noexcept override { return true; }
  [[nodiscard]] std::optional<Compare> fence() const override { return fence_; }
  void listen(std::function<void(bool leads)>) override {}

 private:
  runtime::Runtime& runtime_;
  Store* store_;
  std::optional<Compare> fence_;
};

}  // namespace wardmote::store
