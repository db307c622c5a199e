#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/check.h"
#include "runtime/runtime.h"
#include "runtime/tls.h"

namespace wardmote::net {

/// The real world: one event loop on one thread (epoll), CLOCK_BOOTTIME, sockets, processes. Life
/// cycle: outlives everything that was made from it. Thread: the thread that calls run() is the
/// core thread; other threads may call post() only.
class AsioRuntime final : public runtime::Runtime {
 public:
  AsioRuntime();
  ~AsioRuntime() override;

  [[nodiscard]] TimePoint now() const noexcept override;
  [[nodiscard]] WallTime wall_now() const noexcept override;
  [[nodiscard]] std::string_view boot() const noexcept override;
  [[nodiscard]] runtime::Executor executor() noexcept override;
  std::uint64_t random() noexcept override;
  runtime::Task<void> sleep_until(TimePoint at) override;
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect(
      runtime::Endpoint to, runtime::Deadline deadline) override;
  runtime::Task<Result<void>> knock(runtime::Endpoint to, runtime::Deadline deadline) override;
  /// The host of a TCP endpoint must be numeric here.
  Result<std::unique_ptr<runtime::Listener>> listen(runtime::Endpoint at) override;
  runtime::Task<Result<std::unique_ptr<runtime::Datagrams>>> open_datagrams(
      runtime::DatagramTarget to, runtime::Deadline deadline) override;
  runtime::Processes& processes() noexcept override;
  runtime::Files& files() noexcept override;

  /// From now on `ssl:` endpoints use `tls`. Call this before the first of them is used.
  void use_tls(std::unique_ptr<runtime::TlsLayer> tls);
  /// Runs the loop until `task` has ended. Not reentrant; may be called again.
  void run(runtime::Task<void> task);
  /// Runs `function` on the core thread soon. From any thread.
  void post(std::function<void()> function);
  /// For this folder only.
  boost::asio::io_context& context() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs the loop until `task` has ended and returns what it returned.
template <class T>
T run_task(AsioRuntime& runtime, runtime::Task<T> task) {
  std::optional<T> result;
  constexpr auto kKeep = [](runtime::Task<T> inner, std::optional<T>* into) -> runtime::Task<void> {
    T value = co_await std::move(inner);
    into->emplace(std::move(value));
  };
  runtime.run(kKeep(std::move(task), &result));
  check(result.has_value(), "a task was cancelled from outside");
  return std::move(*result);
}

}  // namespace wardmote::net
