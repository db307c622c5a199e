#include "net/asio_runtime.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "net/asio_datagrams.h"
#include "net/asio_listener.h"
#include "net/boot_timer.h"
#include "net/connector.h"
#include "net/core.h"
#include "net/posix_files.h"
#include "net/processes.h"
#include "runtime/datagrams.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "runtime/random.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "runtime/tls.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

std::uint64_t system_seed() {
  std::uint64_t seed = 0;
  const ssize_t got = ::getrandom(&seed, sizeof seed, 0);
  check(got == sizeof seed, "getrandom failed");
  return seed;
}

/// Of the first time namespace of a machine (PROC_TIME_INIT_INO, linux/proc_ns.h).
constexpr ino_t kFirstTimeNamespace = 0xEFFFFFFA;

/// Another time namespace has a clock of its own, so it is as another machine.
std::string read_boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  struct ::stat clock{};
  const bool known = ::stat("/proc/self/ns/time", &clock) == 0;
  if (known && clock.st_ino != kFirstTimeNamespace) id += fmt::format("+time:{}", clock.st_ino);
  return id;
}

}  // namespace

struct AsioRuntime::Impl {
  Core core;
  PosixProcesses processes{core};
  PosixFiles files{core};
  runtime::Random random{system_seed()};
  std::unique_ptr<runtime::TlsLayer> tls;
  std::string boot = read_boot();
};

AsioRuntime::AsioRuntime() : impl_(std::make_unique<Impl>()) {}
AsioRuntime::~AsioRuntime() = default;

TimePoint AsioRuntime::now() const noexcept {
  return SystemBootClock::now();
}
WallTime AsioRuntime::wall_now() const noexcept {
  return std::chrono::system_clock::now();
}
std::string_view AsioRuntime::boot() const noexcept {
  return impl_->boot;
}
runtime::Executor AsioRuntime::executor() noexcept {
  return impl_->core.context.get_executor();
}
std::uint64_t AsioRuntime::random() noexcept {
  return impl_->random.next();
}
Task<void> AsioRuntime::sleep_until(TimePoint at) {
  return impl_->core.sleep_until(at);
}

Task<Result<std::unique_ptr<runtime::Stream>>> AsioRuntime::connect(Endpoint to,
                                                                    Deadline deadline) {
  if (to.kind == Endpoint::Kind::kTls)
    return runtime::connect_tls(this, impl_->tls.get(), std::move(to), deadline);
  return connect_stream(&impl_->core, std::move(to), deadline);
}

Task<Result<void>> AsioRuntime::knock(Endpoint to, Deadline deadline) {
  if (to.kind != Endpoint::Kind::kTcp) return Runtime::knock(std::move(to), deadline);
  return knock_tcp(&impl_->core, std::move(to), deadline);
}

Result<std::unique_ptr<runtime::Listener>> AsioRuntime::listen(Endpoint at) {
  Result<std::unique_ptr<runtime::Listener>> listener = listen_on(impl_->core, at);
  if (!listener || at.kind == Endpoint::Kind::kUnix) return listener;
  return runtime::listen_tcp(*std::move(listener), impl_->tls.get(), at);
}
Task<Result<std::unique_ptr<runtime::Datagrams>>> AsioRuntime::open_datagrams(
    runtime::DatagramTarget to, Deadline deadline) {
  return net::open_datagrams(&impl_->core, std::move(to), deadline);
}
runtime::Processes& AsioRuntime::processes() noexcept {
  return impl_->processes;
}
runtime::Files& AsioRuntime::files() noexcept {
  return impl_->files;
}

void AsioRuntime::use_tls(std::unique_ptr<runtime::TlsLayer> tls) {
  impl_->tls = std::move(tls);
}

void AsioRuntime::run(Task<void> task) {
  asio::io_context& context = impl_->core.context;
  constexpr auto kThenStop = [](Task<void> inner, asio::io_context* loop) -> Task<void> {
    co_await std::move(inner);
    loop->stop();
  };
  runtime::TaskGroup group(context.get_executor());
  const auto alive = asio::make_work_guard(context);
  group.spawn("main", kThenStop(std::move(task), &context));
  context.restart();
  context.run();
  // The group handles the end of the task in a handler of its own.
  context.restart();
  while (group.size() > 0) context.run_one();
}

asio::io_context& AsioRuntime::context() noexcept {
  return impl_->core.context;
}
void AsioRuntime::post(std::function<void()> function) {
  asio::post(impl_->core.context, std::move(function));
}

}  // namespace wardmote::net
