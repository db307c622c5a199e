#include "sim/world.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "runtime/task_group.h"
#include "sim/sim_network.h"
#include "sim/sim_runtime.h"

namespace wardmote::sim {

using namespace std::chrono_literals;

namespace {

/// Not zero, so that a time that was never set shows.
constexpr TimePoint kStart{1h};

}  // namespace

World::World(std::uint64_t seed)
    : seed_(seed), random_(seed), now_(kStart), network_(std::make_unique<SimNetwork>(*this)) {}

World::~World() {
  for (const auto& host : hosts_) host->end_tasks();
  mark_all_ready();
  settle();
  queue_.clear();  // what is on the way belongs to the network
}

SimRuntime& World::host(const std::string& name) {
  if (SimRuntime* const known = find_host(name)) return *known;
  hosts_.push_back(std::make_unique<SimRuntime>(*this, hosts_.size(), name, random_.next()));
  return *hosts_.back();
}

void World::at(Duration since_start, std::function<void()> happening) {
  schedule(kStart + since_start, [this, act = std::move(happening)] {
    act();
    mark_all_ready();
  });
}

SimRuntime* World::find_host(const std::string& name) noexcept {
  for (const auto& host : hosts_) {
    if (host->name() == name) return host.get();
  }
  return nullptr;
}

World::EventId World::schedule(TimePoint at, std::move_only_function<void()> happening) {
  const EventId id{std::max(at, now_), next_event_++};
  queue_.emplace(id, std::move(happening));
  return id;
}

void World::mark_ready(SimRuntime& host) {
  ready_.insert(host.index());
}

void World::mark_all_ready() {
  for (const auto& host : hosts_) mark_ready(*host);
}

void World::settle() {
  while (!ready_.empty()) {
    const std::size_t index = *ready_.begin();
    ready_.erase(ready_.begin());
    hosts_[index]->run_ready();
  }
}

bool World::advance(TimePoint limit) {
  if (queue_.empty() || queue_.begin()->first.first > limit) return false;
  auto next = queue_.extract(queue_.begin());
  now_ = next.key().first;
  ++events_;
  trace(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  next.mapped()();
  return true;
}

void World::run_for(Duration time) {
  const TimePoint end = now_ + time;
  mark_all_ready();
  do settle();
  while (advance(end));
  now_ = end;
}

bool World::run_until(const std::function<bool()>& condition, Duration limit) {
  const TimePoint end = now_ + limit;
  mark_all_ready();
  for (;;) {
    settle();
    if (condition()) return true;
    if (!advance(end)) break;
  }
  now_ = end;
  return false;
}

void World::run(SimRuntime& host, runtime::Task<void> task) {
  runtime::TaskGroup group(host.executor());
  group.spawn("main", std::move(task));
  mark_all_ready();
  settle();
  while (group.size() > 0) {
    check(advance(TimePoint::max()), "deadlock: every task of the simulated world waits for ever");
    settle();
  }
}

void World::trace(std::string_view what) noexcept {
  trace(what.size());
  while (!what.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(what.size(), sizeof word);
    std::memcpy(&word, what.data(), size);
    trace(word);
    what.remove_prefix(size);
  }
}

void World::trace(std::uint64_t what) noexcept {
  trace_ = std::rotl((trace_ ^ what) * 0x9e3779b97f4a7c15, 29);
}

}  // namespace wardmote::sim
