#pragma once

#include <cstddef>
#include <memory>

#include "runtime/task.h"

namespace wardmote::runtime {

/// Where coroutines wait for something to happen. It does not say what, so they wait in a loop on a
/// condition of their own. Outlives who waits. Thread: the executor's.
class Bell {
 public:
  explicit Bell(const Executor& executor);
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell();

  /// Until the next ring(). A cancelled task leaves as from any other wait.
  Task<void> wait();
  /// Wakes all who wait now.
  void ring();
  [[nodiscard]] std::size_t waiting() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wardmote::runtime
