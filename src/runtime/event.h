#pragma once

#include <cstddef>
#include <memory>

#include "runtime/task.h"

namespace wardmote::runtime {

/// Coroutines wait here for something to happen. The event does not say what happened, so they wait
/// in a loop on a condition of their own. The event outlives its waiters. Thread: the executor's.
class Event {
 public:
  explicit Event(const Executor& executor);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Waits until the next notify(). Cancelling the task ends the wait, as everywhere.
  Task<void> wait();
  /// Wakes all tasks that wait now.
  void notify();
  [[nodiscard]] std::size_t waiting() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wardmote::runtime
