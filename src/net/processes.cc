#include "net/processes.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/child.h"
#include "net/deadline_queue.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/task_group.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::ProcessExit;
using runtime::ProcessSpec;
using runtime::Task;

namespace {

constexpr auto kAwaitResult = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kChunk = 16 << 10;

/// One run of one program. On every way out, the group is killed and the process is reaped.
class Run {
 public:
  Run(std::shared_ptr<Child> child, std::size_t cap) : child_(std::move(child)), cap_(cap) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { Child::abandon(child_); }

  /// Reads `pipe` to its end or until stopped.
  Task<void> collect(Descriptor* pipe, std::string* into) {
    while (reading_) {
      std::array<char, kChunk> chunk;
      const auto [error, size] = co_await pipe->async_read_some(asio::buffer(chunk), kAwaitResult);
      if (!take({chunk.data(), size}, into) || error) co_return;
    }
  }

  /// Waits for the end of the process only. Its children may hold the pipes open for ever, so the
  /// end of the pipes is not awaited.
  Task<void> wait() {
    co_await child_->exited.async_wait(Descriptor::wait_read, kAwaitResult);
    stop_reading();
  }

  static void expire(void* self) noexcept {
    static_cast<Run*>(self)->timed_out = true;
    static_cast<Run*>(self)->give_up();
  }

  /// Reads the output that the process had written before it ended.
  void drain() {
    drain(&child_->out, &standard_output);
    drain(&child_->err, &standard_error);
  }

  std::string standard_output;
  std::string standard_error;
  bool over_limit = false;
  bool timed_out = false;

 private:
  bool take(std::string_view text, std::string* into) {
    if (into->size() + text.size() > cap_) {
      over_limit = true;
      give_up();
      return false;
    }
    into->append(text);
    return true;
  }

  void drain(Descriptor* pipe, std::string* into) {
    boost::system::error_code error;
    pipe->non_blocking(true, error);
    while (!error && !over_limit) {
      std::array<char, kChunk> chunk;
      const std::size_t size = pipe->read_some(asio::buffer(chunk), error);
      take({chunk.data(), size}, into);
    }
  }

  void stop_reading() noexcept {
    reading_ = false;
    boost::system::error_code ignored;
    child_->out.cancel(ignored);
    child_->err.cancel(ignored);
  }

  void give_up() {
    child_->kill_group();
    stop_reading();
    boost::system::error_code ignored;
    child_->exited.cancel(ignored);
  }

  std::shared_ptr<Child> child_;
  std::size_t cap_;
  bool reading_ = true;
};

}  // namespace

Task<Result<ProcessExit>> PosixProcesses::run(ProcessSpec spec, Deadline deadline) {
  Result<std::shared_ptr<Child>> child = Child::start(*core_, subreaper_, spec);
  if (!child) co_return std::unexpected(child.error());
  Run run(*child, spec.output_cap);
  {
    DeadlineQueue::Watch watch(core_->deadlines, deadline, &Run::expire, &run);
    std::vector<Task<void>> parts;
    parts.push_back(run.collect(&(*child)->out, &run.standard_output));
    parts.push_back(run.collect(&(*child)->err, &run.standard_error));
    parts.push_back(run.wait());
    co_await runtime::run_all(core_->context.get_executor(), std::move(parts));
  }
  if (run.timed_out) co_return fail(Errc::kTimeout, "run {}", spec.argv[0]);
  run.drain();
  if (run.over_limit)
    co_return fail(Errc::kLimit, "run {}: more than {} bytes of output", spec.argv[0],
                   spec.output_cap);
  // Before the process is reaped, because only until then its pid surely names its group. A server
  // that is spared has its name only after execve, so what comes from a program that did its work
  // is all left alone.
  if (spec.spares.empty() || !(*child)->ended_well()) (*child)->kill_group();
  const std::optional<int> status = (*child)->reap();
  if (!status) co_return fail(Errc::kInternal, "run {}: it has no exit status", spec.argv[0]);
  co_return ProcessExit{*status, std::move(run.standard_output), std::move(run.standard_error)};
}

}  // namespace wardmote::net
