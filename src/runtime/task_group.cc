#include "runtime/task_group.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "runtime/task.h"

namespace wardmote::runtime {

namespace asio = boost::asio;

namespace {

struct Running {
  std::string name;
  asio::cancellation_signal signal;
  bool started = false;
  bool cancelled = false;

  void cancel() {
    cancelled = true;
    if (started) signal.emit(asio::cancellation_type::terminal);
  }
};

void end_if_broken(const std::exception_ptr& thrown, const std::string& name) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) return;
    die(fmt::format("task {} threw: {}", name, error.what()));
  } catch (const std::exception& error) {
    die(fmt::format("task {} threw: {}", name, error.what()));
  }
}

}  // namespace

struct TaskGroup::State {
  explicit State(Executor on)
      : executor(std::move(on)), emptied(executor, asio::steady_timer::time_point::max()) {}

  Executor executor;
  asio::steady_timer emptied;         ///< never expires; cancelled when the last task ends
  std::map<TaskId, Running> running;  ///< ordered, so that cancellation is deterministic
  TaskId next_id = 0;
  bool cancelled = false;

  /// Asio ends the process when a coroutine that it spawned is cancelled before its first step or
  /// after its last, where nothing can catch the cancellation. So a task that has not started is
  /// skipped here instead of cancelled, and a task that has ended is left alone.
  static Task<void> carry(std::shared_ptr<State> state, std::uint64_t id, Task<void> task) {
    Running& running = state->running.at(id);
    if (running.cancelled) co_return;
    running.started = true;
    std::exception_ptr thrown;
    try {
      co_await std::move(task);
    } catch (...) {
      thrown = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(false);
    if (thrown) std::rethrow_exception(thrown);
  }
};

TaskGroup::TaskGroup(Executor executor) : state_(std::make_shared<State>(std::move(executor))) {}

TaskGroup::~TaskGroup() {
  check(state_->running.empty(), "a TaskGroup was destroyed before its tasks ended");
}

TaskGroup::TaskId TaskGroup::spawn(std::string name, Task<void> task) {
  const TaskId id = state_->next_id++;
  if (state_->cancelled) return id;
  Running& entry = state_->running[id];
  entry.name = std::move(name);
  const auto on_end = [state = state_, id](const std::exception_ptr& thrown) {
    end_if_broken(thrown, state->running.at(id).name);
    state->running.erase(id);
    if (state->running.empty()) state->emptied.cancel();
  };
  asio::co_spawn(state_->executor, State::carry(state_, id, std::move(task)),
                 asio::bind_cancellation_slot(entry.signal.slot(), on_end));
  return id;
}

void TaskGroup::cancel() noexcept {
  state_->cancelled = true;
  // A task may end inside emit() and erase itself, so walk by key.
  for (auto it = state_->running.begin(); it != state_->running.end();) {
    const TaskId id = it->first;
    it->second.cancel();
    it = state_->running.upper_bound(id);
  }
}

void TaskGroup::cancel(TaskId task) noexcept {
  const auto found = state_->running.find(task);
  if (found != state_->running.end()) found->second.cancel();
}

Task<void> TaskGroup::join() {
  const std::shared_ptr<State> state = state_;
  // The waiter must wait to the end even when it is cancelled itself, because the tasks use its
  // frame.
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!state->running.empty()) {
    // Before the wait: an earlier cancellation wakes nobody.
    const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
    if (asked.cancelled() != asio::cancellation_type::none && !state->cancelled) cancel();
    co_await state->emptied.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await asio::this_coro::throw_if_cancelled(true);
}

Task<void> TaskGroup::stop() {
  cancel();
  Task<void> joined = join();
  co_await std::move(joined);
}

Task<void> run_all(Executor executor, std::vector<Task<void>> tasks) {
  TaskGroup group(std::move(executor));
  for (Task<void>& task : tasks) group.spawn("part", std::move(task));
  co_await asio::this_coro::throw_if_cancelled(false);
  Task<void> joined = group.join();
  co_await std::move(joined);
  // The tasks were cancelled, so the caller must not continue as if they had ended by themselves.
  const asio::cancellation_state asked = co_await asio::this_coro::cancellation_state;
  if (asked.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

std::size_t TaskGroup::size() const noexcept {
  return state_->running.size();
}

std::vector<std::string> TaskGroup::names() const {
  std::vector<std::string> names;
  for (const auto& [id, entry] : state_->running) names.push_back(entry.name);
  return names;
}

}  // namespace wardmote::runtime
