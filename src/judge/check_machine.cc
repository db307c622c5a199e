#include "judge/check_machine.h"

#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

void enter(Step& step, State to, TimePoint now) noexcept {
  if (step.next.state == to) return;
  step.transition = Transition{step.next.state, to, now};
  step.next.state = to;
  step.next.since = now;
}

void feed_good(Step& step, const CheckPolicy& policy, bool degraded, TimePoint now) noexcept {
  CheckState& next = step.next;
  next.failures = 0;
  next.degraded = degraded;
  if (next.state == State::kReported && ++next.successes < policy.rise) return;
  next.successes = 0;
  next.overdue = false;
  enter(step, State::kHealthy, now);
}

void feed_fail(Step& step, const CheckPolicy& policy, TimePoint now) noexcept {
  CheckState& next = step.next;
  next.successes = 0;
  if (next.state == State::kReported) return;
  ++next.failures;
  // A subject that was never seen good may still be starting: it stays in discovery and becomes
  // overdue.
  if (next.state == State::kDiscovery) return;
  next.degraded = false;
  enter(step, next.failures >= policy.fall ? State::kReported : State::kError, now);
}

}  // namespace

CheckState begin_check(TimePoint now) noexcept {
  CheckState state;
  state.since = now;
  state.known = now;
  return state;
}

Step step(const CheckState& state, const CheckPolicy& policy, Outcome outcome,
          TimePoint now) noexcept {
  Step step{state, std::nullopt};
  step.next.last = outcome;
  if (outcome == Outcome::kUnknown) {
    step.next.blind = now - step.next.known >= policy.unknown_limit;
  } else {
    step.next.known = now;
    step.next.blind = false;
    if (outcome == Outcome::kFail) feed_fail(step, policy, now);
    if (outcome == Outcome::kOk || outcome == Outcome::kWarn)
      feed_good(step, policy, outcome == Outcome::kWarn, now);
  }
  if (step.next.state == State::kDiscovery)
    step.next.overdue = now - step.next.since >= policy.discovery_limit;
  return step;
}

bool ready(const CheckState& state, bool optional) noexcept {
  switch (state.state) {
    case State::kDiscovery: return optional;
    case State::kHealthy:
    case State::kError: return !state.blind;
    case State::kReported: return false;
  }
  return false;
}

int exit_code(const CheckState& state) noexcept {
  if (state.blind) return 3;
  switch (state.state) {
    case State::kDiscovery: return 3;
    case State::kHealthy: return state.degraded ? 1 : 0;
    case State::kError: return 1;
    case State::kReported: return 2;
  }
  return 3;
}

std::string_view to_string(State state) noexcept {
  switch (state) {
    case State::kDiscovery: return "discovery";
    case State::kHealthy: return "healthy";
    case State::kError: return "error";
    case State::kReported: return "reported";
  }
  return "discovery";
}

}  // namespace wardmote::judge
