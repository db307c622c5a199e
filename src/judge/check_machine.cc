#include "judge/check_machine.h"

#include <algorithm>
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
  const bool unproven = next.state == State::kReported || next.state == State::kDiscovery;
  if (unproven && ++next.successes < policy.rise) return;
  next.successes = 0;
  next.seen_good = true;
  enter(step, State::kHealthy, now);
}

void feed_fail(Step& step, const CheckPolicy& policy, TimePoint now) noexcept {
  CheckState& next = step.next;
  if (next.state == State::kReported) {
    next.successes = 0;
    return;
  }
  const bool discovery = next.state == State::kDiscovery;
  const bool starts = discovery && !next.seen_good && next.successes == 0;
  if (starts && now - next.since < policy.start_period) return;
  ++next.failures;
  const bool confirmed = next.failures >= policy.fall;
  // In discovery good results count since the start: otherwise a subject that is good every other
  // time would stay there for ever.
  if (discovery && !confirmed) return;
  next.successes = 0;
  next.degraded = false;
  enter(step, confirmed ? State::kReported : State::kError, now);
}

/// A pause longer than two intervals is a pause of the agent: nobody could probe.
void feed_unknown(Step& step, const CheckPolicy& policy, Duration pause) noexcept {
  if (policy.every > Duration::zero()) pause = std::min(pause, 2 * policy.every);
  step.next.unknown_for += pause;
  // Another limit lets nobody see: only a look that is known ends this.
  step.next.blind = step.next.blind || step.next.unknown_for >= policy.unknown_limit;
}

}  // namespace

CheckState begin_check(TimePoint now) noexcept {
  CheckState state;
  state.since = now;
  state.looked = now;
  return state;
}

CheckState resume_reported(const CheckPolicy& policy, bool seen_good, TimePoint since,
                           TimePoint now) noexcept {
  CheckState state = begin_check(now);
  state.state = State::kReported;
  state.failures = policy.fall;
  state.seen_good = seen_good;
  state.since = since;
  return state;
}

Step step(const CheckState& state, const CheckPolicy& policy, Outcome outcome, ReasonCode reason,
          TimePoint now) noexcept {
  Step step{state, std::nullopt};
  step.next.last = outcome;
  step.next.looked = now;
  if (outcome == Outcome::kUnknown && !unreadable(outcome, reason)) {
    feed_unknown(step, policy, now - state.looked);
    return step;
  }
  step.next.unknown_for = {};
  step.next.blind = false;
  if (outcome == Outcome::kOk || outcome == Outcome::kWarn) {
    feed_good(step, policy, outcome == Outcome::kWarn, now);
  } else {
    feed_fail(step, policy, now);
  }
  return step;
}

bool counts(const CheckState& state, bool optional) noexcept {
  return !optional || state.seen_good;
}

bool ready(const CheckState& state, bool optional) noexcept {
  switch (state.state) {
    case State::kHealthy:
    case State::kError: return !state.blind;
    case State::kDiscovery: return optional && !(state.blind && state.seen_good);
    case State::kReported: return !counts(state, optional);
  }
  return false;
}

int exit_code(const CheckState& state, bool optional) noexcept {
  // A confirmed failure stays until a good result.
  if (state.state == State::kReported) return optional ? 1 : 2;
  if (state.blind || state.state == State::kDiscovery) return 3;
  return state.state == State::kError || state.degraded ? 1 : 0;
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
