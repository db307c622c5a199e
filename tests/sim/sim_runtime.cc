#include "sim/sim_runtime.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "sim/fake_datagrams.h"
#include "sim/parking.h"
#include "sim/sim_network.h"
#include "sim/world.h"

namespace wardmote::sim {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::ProcessExit;
using runtime::ProcessSpec;
using runtime::Task;

namespace {

/// The wall clock at boot: 2026-01-01T00:00:00Z.
constexpr WallTime kBootWall{std::chrono::seconds(1767225600)};

}  // namespace

class SimRuntime::FakeProcesses final : public runtime::Processes {
 public:
  explicit FakeProcesses(SimRuntime& host) : host_(&host) {}

  Task<Result<ProcessExit>> run(ProcessSpec spec, Deadline deadline) override {
    const auto program = host_->programs_.find(spec.argv.empty() ? "" : spec.argv.front());
    if (program == host_->programs_.end())
      co_return fail(Errc::kMissing, "run {}", fmt::join(spec.argv, " "));
    Performance performance = program->second(spec);
    const TimePoint end = host_->now() + performance.takes;
    co_await host_->sleep_until(std::min(end, deadline.at));
    if (end > deadline.at) co_return fail(Errc::kTimeout, "run {}", spec.argv.front());
    co_return std::move(performance.ends);
  }

 private:
  SimRuntime* host_;
};

SimRuntime::SimRuntime(World& world, std::size_t index, std::string name, std::string host,
                       std::uint64_t seed)
    : world_(&world),
      index_(index),
      name_(std::move(name)),
      host_(std::move(host)),
      random_(seed),
      context_(1),
      alive_(boost::asio::make_work_guard(context_)),
      processes_(std::make_unique<FakeProcesses>(*this)),
      tasks_(std::make_unique<runtime::TaskGroup>(executor())) {}

SimRuntime::~SimRuntime() = default;

TimePoint SimRuntime::now() const noexcept {
  return world_->now();
}
WallTime SimRuntime::wall_now() const noexcept {
  return kBootWall + now().time_since_epoch() + wall_offset_;
}
runtime::Executor SimRuntime::executor() noexcept {
  return context_.get_executor();
}
std::uint64_t SimRuntime::random() noexcept {
  return random_.next();
}
runtime::Processes& SimRuntime::processes() noexcept {
  return *processes_;
}

Task<void> SimRuntime::sleep_until(TimePoint at) {
  Parking bed(*this);
  const Alarm alarm(*world_, at, [&bed] { bed.wake(); });
  co_await bed.wait();
}

Task<Result<std::unique_ptr<runtime::Stream>>> SimRuntime::connect(Endpoint to, Deadline deadline) {
  if (to.kind == Endpoint::Kind::kTls)
    return runtime::connect_tls(this, tls_, std::move(to), deadline);
  return world_->network().connect(this, std::move(to), deadline);
}

Task<Result<std::unique_ptr<runtime::Datagrams>>> SimRuntime::open_datagrams(
    runtime::DatagramTarget to, Deadline) {
  if (exhausted_) co_return fail(Errc::kExhausted, "open a socket");
  if (refuse_ping_ && to.protocol == runtime::DatagramTarget::Protocol::kPing)
    co_return fail(Errc::kDenied, "open a socket");
  co_return std::make_unique<FakeDatagrams>(*this, std::move(to), datagram_peer_);
}

Result<std::unique_ptr<runtime::Listener>> SimRuntime::listen(Endpoint at) {
  Endpoint below = at;
  if (at.kind == Endpoint::Kind::kTls) below = Endpoint::tcp(at.host, at.port);
  auto listener = world_->network().listen(*this, below);
  if (!listener || at.kind == Endpoint::Kind::kUnix) return listener;
  return runtime::listen_tcp(*std::move(listener), tls_, at);
}

void SimRuntime::spawn(std::string name, Task<void> task) {
  tasks_->spawn(std::move(name), std::move(task));
}

void SimRuntime::resume() {
  paused_ = false;
  world_->mark_ready(*this);
}

void SimRuntime::pause_for(Duration time) {
  pause();
  world_->schedule(now() + time, [this] { resume(); });
}

void SimRuntime::starve_for(Duration time, Duration gap) {
  pause();
  for (Duration passed = gap; passed < time; passed += gap) {
    world_->schedule(now() + passed, [this] {
      resume();
      // After the tasks that this instant lets run.
      world_->schedule(now(), [this] { pause(); });
    });
  }
  world_->schedule(now() + time, [this] { resume(); });
}

void SimRuntime::crash() {
  world_->network().reset_all(*this);
  end_tasks();
}

void SimRuntime::vanish() {
  gone_ = true;
  world_->network().forget_all(*this);
  end_tasks();
}

void SimRuntime::end_tasks() {
  resume();
  // From within the loop: Asio would queue a cancellation from outside it, and deliver it to a task
  // that may have ended before its turn.
  boost::asio::post(context_, [this] { tasks_->cancel(); });
  run_ready();
  check(tasks_->size() == 0, "a task of a simulated host did not end when it was cancelled");
  tasks_ = std::make_unique<runtime::TaskGroup>(executor());
}

void SimRuntime::run_ready() {
  if (!paused_) context_.poll();
}

}  // namespace wardmote::sim
