#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"
#include "runtime/random.h"
#include "runtime/task.h"

namespace wardmote::sim {

class SimNetwork;
class SimRuntime;

/// A simulated world: hosts with their tasks, a network, virtual time and chance, all from one
/// seed. Everything that happens does so in one order on one thread, so the same seed gives the
/// same trace. Time stands still while tasks run and jumps to the next event when all of them wait.
/// Life cycle: outlives whatever runs on its hosts.
class World {
 public:
  using EventId = std::pair<TimePoint, std::uint64_t>;

  explicit World(std::uint64_t seed);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// The host of that name, which is its first process; made when first asked for.
  SimRuntime& host(const std::string& name) { return process(name, name); }
  /// A further process on a host: it shares unix sockets and the loopback with the others there.
  SimRuntime& process(const std::string& name, const std::string& host);
  /// A process there; null when there is no such host.
  [[nodiscard]] SimRuntime* find_host(const std::string& host) noexcept;
  SimNetwork& network() noexcept { return *network_; }
  [[nodiscard]] TimePoint now() const noexcept { return now_; }
  runtime::Random& random() noexcept { return random_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

  /// Does something to the world at a given time: `sim.at(30s, [&] {
  /// sim.network().isolate("ctl-1"); })`.
  void at(Duration since_start, std::function<void()> happening);

  void run_for(Duration time);
  /// True as soon as `condition` holds; false after `limit`.
  bool run_until(const std::function<bool()>& condition, Duration limit);
  /// Runs a task of `host` to its end. A world in which nothing can happen any more is a deadlock
  /// and ends the process.
  void run(SimRuntime& host, runtime::Task<void> task);

  /// Adds to the trace what a test wants to be the same on every replay.
  void trace(std::string_view what) noexcept;
  void trace(std::uint64_t what) noexcept;
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  // For the parts of the simulator.
  EventId schedule(TimePoint at, std::move_only_function<void()> happening);
  void cancel(EventId id) noexcept { queue_.erase(id); }
  void mark_ready(SimRuntime& process);

 private:
  /// Runs every task that can run now.
  void settle();
  /// Lets the next event happen if it is due by `limit`; false when none is.
  bool advance(TimePoint limit);
  void mark_all_ready();

  std::uint64_t seed_;
  runtime::Random random_;
  TimePoint now_;
  std::map<EventId, std::move_only_function<void()>> queue_;
  std::uint64_t next_event_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t trace_ = 0;
  std::set<std::size_t> ready_;  ///< indexes into processes_
  std::unique_ptr<SimNetwork> network_;
  std::vector<std::unique_ptr<SimRuntime>> processes_;
};

/// An event that is cancelled when this goes.
class Alarm {
 public:
  Alarm(World& world, TimePoint at, std::move_only_function<void()> happening)
      : world_(&world), id_(world.schedule(at, std::move(happening))) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { world_->cancel(id_); }

 private:
  World* world_;
  World::EventId id_;
};

/// Runs a task of `host` to its end and returns what it returned.
template <class T>
T run_task(World& world, SimRuntime& host, runtime::Task<T> task) {
  std::optional<T> result;
  constexpr auto keep = [](runtime::Task<T> inner, std::optional<T>* into) -> runtime::Task<void> {
    T value = co_await std::move(inner);
    into->emplace(std::move(value));
  };
  world.run(host, keep(std::move(task), &result));
  check(result.has_value(), "a task was cancelled from outside");
  return std::move(*result);
}

}  // namespace wardmote::sim
