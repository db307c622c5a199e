#include "agent/self_watch.h"

#include <algorithm>

namespace wardmote::agent {

using judge::Reason;
using judge::ReasonCode;

SelfWatch::SelfWatch(runtime::Runtime& runtime, Board& board) : runtime_(runtime), board_(board) {}

runtime::Task<void> SelfWatch::run() {
  TimePoint due = runtime_.now() + kBeat;
  for (;;) {
    next_beat_ = due;
    co_await runtime_.sleep_until(due);
    beat(due);
    // What was slept through is not made up for: one late beat says it all.
    due = std::max(due, runtime_.now()) + kBeat;
  }
}

void SelfWatch::beat(TimePoint due) {
  const TimePoint now = runtime_.now();
  guard_.beat(due, now, runtime_.wall_now());
  board_.heart_beat(std::max(now - due, Duration::zero()), guard_.complaint(now));
}

bool SelfWatch::voids(TimePoint begun, const Reason& reason) {
  const TimePoint now = runtime_.now();
  if (reason.code == ReasonCode::kProberStarved) guard_.exhausted(now);
  // After a pause the deadlines of looks may run before the heartbeat does, which would tell of it
  // too late.
  if (next_beat_ && now > *next_beat_) guard_.beat(*next_beat_, now, runtime_.wall_now());
  if (!guard_.voids(begun, now)) return false;
  board_.voided(1);
  return true;
}

Reason SelfWatch::starved() const {
  return {ReasonCode::kProberStarved,
          guard_.complaint(runtime_.now()).value_or("the agent was starved")};
}

}  // namespace wardmote::agent
