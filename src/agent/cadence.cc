#include "agent/cadence.h"

#include <cstdint>
#include <utility>

namespace wardmote::agent {

using runtime::Deadline;
using runtime::Task;

Cadence::Cadence(runtime::Runtime& runtime, runtime::TaskGroup& group, std::string name,
                 Duration every, Duration timeout, Round round)
    : runtime_(runtime),
      group_(group),
      name_(std::move(name)),
      every_(every),
      timeout_(timeout),
      round_(std::move(round)) {}

void Cadence::start() {
  group_.spawn(name_ + " cadence", tick());
}

void Cadence::look_now() {
  if (std::exchange(running_, true)) {
    again_ = true;
    return;
  }
  group_.spawn(name_, run_rounds());
}

Task<void> Cadence::tick() {
  const auto phase =
      static_cast<Duration::rep>(runtime_.random() % static_cast<std::uint64_t>(every_.count()));
  TimePoint due = runtime_.now() + Duration(phase);
  for (;;) {
    co_await runtime_.sleep_until(due);
    if (!running_) look_now();
    // Stays on its grid. What was missed while this process did not run is not made up for.
    const Duration late = runtime_.now() - due;
    due += every_ * (1 + late / every_);
  }
}

Task<void> Cadence::run_rounds() {
  do {
    again_ = false;
    const TimePoint begun = runtime_.now();
    Task<void> round = round_(Deadline{begun + timeout_});
    co_await std::move(round);
    if (again_) co_await runtime_.sleep_until(begun + kLeastGap);
  } while (again_);
  running_ = false;
}

}  // namespace wardmote::agent
