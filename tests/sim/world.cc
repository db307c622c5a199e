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
  for (const auto& process : processes_) process->end_tasks();
  mark_all_ready();
  settle();
  queue_.clear();  // what is on the way belongs to the network
}

SimRuntime& World::process(const std::string& name, const std::string& host) {
  const auto known =
      std::ranges::find(processes_, name, [](const auto& each) { return each->name(); });
  if (known != processes_.end()) return **known;
  processes_.push_back(
      std::make_unique<SimRuntime>(*this, processes_.size(), name, host, random_.next()));
  return *processes_.back();
}

SimRuntime* World::find_host(const std::string& host) noexcept {
  const auto found =
      std::ranges::find(processes_, host, [](const auto& each) { return each->host(); });
  return found == processes_.end() ? nullptr : found->get();
}

void World::at(Duration since_start, std::function<void()> happening) {
  schedule(kStart + since_start, [this, act = std::move(happening)] {
    act();
    mark_all_ready();
  });
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
  for (const auto& process : processes_) mark_ready(*process);
}

void World::settle() {
  while (!ready_.empty()) {
    const std::size_t index = *ready_.begin();
    ready_.erase(ready_.begin());
    processes_[index]->run_ready();
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
