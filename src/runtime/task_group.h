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
/// (or join()) before destruction; destroying a group that still has tasks is a broken invariant.
/// So a group lives in an object with a stop() of its own; a coroutine, which may be cancelled
/// between spawn() and join(), uses run_all(). Thread: the executor's.
class TaskGroup {
 public:
  using TaskId = std::uint64_t;

  explicit TaskGroup(Executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();

  /// Starts `task`; `name` is for /debug and for the message when it throws, which ends the process
  /// (cancellation aside). After cancel() new tasks are dropped unstarted.
  TaskId spawn(std::string name, Task<void> task);
  /// Asks every task to end; does not wait. From within the loop only: from outside, Asio would
  /// queue the cancellation and may deliver it to a task that has ended.
  void cancel() noexcept;
  /// Asks one task to end; nothing when it has ended.
  void cancel(TaskId task) noexcept;
  /// Waits until no task is left. If the waiting task is cancelled, so is the group, and the wait
  /// goes on until it is empty.
  Task<void> join();
  /// cancel() and join().
  Task<void> stop();

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Runs all `tasks` at once and returns when every one has ended. Cancelling the caller cancels
/// them, still waits, and then unwinds the caller.
Task<void> run_all(Executor executor, std::vector<Task<void>> tasks);

}  // namespace wardmote::runtime
