#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/task.h"

namespace wardmote::runtime {

/// Owns background tasks: nothing is detached. Life cycle: spawn any number, then `co_await stop()`
/// (or join()) before destruction; destroying a group that still has tasks breaks an invariant. So
/// a group belongs to an object with a stop() of its own. A coroutine, which may be cancelled
/// between spawn() and join(), uses run_all(). Thread: the executor's.
class TaskGroup {
 public:
  using TaskId = std::uint64_t;

  explicit TaskGroup(Executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();

  /// Starts `task`. `name` appears in /debug, and in the message when the task throws, which ends
  /// the process (cancellation does not). After cancel(), new tasks are dropped without being
  /// started.
  TaskId spawn(std::string name, Task<void> task);
  /// Asks every task to end; does not wait. Call it on the loop only: from another thread, Asio
  /// would queue the cancellation and could deliver it to a task that has ended.
  void cancel() noexcept;
  /// Asks one task to end; does nothing when the task has ended.
  void cancel(TaskId task) noexcept;
  /// Waits until no task is left. If the waiting task is cancelled, the group is cancelled too, and
  /// the wait continues until the group is empty.
  Task<void> join();
  /// cancel() and join().
  Task<void> stop();

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Runs all `tasks` at the same time and returns when every one has ended. Cancelling the caller
/// cancels them; the caller still waits for them, and then unwinds.
Task<void> run_all(Executor executor, std::vector<Task<void>> tasks);

}  // namespace wardmote::runtime
