#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::judge {

/// The four states of every check.
enum class State : std::uint8_t {
  /// not enough results yet: fewer than `rise` good ones, fewer than `fall` bad ones in a row
  kDiscovery,
  kHealthy,   ///< good, perhaps degraded
  kError,     ///< failing, not yet `fall` times in a row
  kReported,  ///< confirmed
};

struct CheckPolicy {
  int fall = 3;  ///< failures in a row until `reported`, at least 1
  /// good results until the check is healthy: since the start, or in a row; at least 1
  int rise = 2;
  /// a check unknown for longer than this is blind
  Duration unknown_limit = std::chrono::seconds(60);
  /// Failures do not count for this long after the start, unless a result was good before.
  Duration start_period{};
  /// time between two probes; after a much longer time, the agent did not run. 0: unknown
  Duration every{};
  friend bool operator==(const CheckPolicy&, const CheckPolicy&) = default;
};

/// The whole memory of a check. A value: copy it to keep it over a reload.
struct CheckState {
  State state = State::kDiscovery;
  Outcome last = Outcome::kUnknown;
  /// in a row; a result that is unknown because of the agent neither counts nor resets
  int failures = 0;
  int successes = 0;       ///< in discovery since the start; in `reported` in a row
  bool degraded = false;   ///< healthy with a warning
  bool blind = false;      ///< unknown for longer than its limit
  bool seen_good = false;  ///< it was healthy once, also before the start if it is optional
  TimePoint since;         ///< of `state`
  TimePoint looked;        ///< time of the last result; at first, the start
  Duration unknown_for{};  ///< only time in which the agent ran
  friend bool operator==(const CheckState&, const CheckState&) = default;
};

/// A change that others must know of.
struct Transition {
  State from;
  State to;
  TimePoint at;
  friend bool operator==(const Transition&, const Transition&) = default;
};

struct Step {
  CheckState next;
  std::optional<Transition> transition;
};

/// The state of a new check.
CheckState begin_check(TimePoint now) noexcept;

/// The state of a check that an earlier run of the agent has stored as reported since `since`.
CheckState resume_reported(const CheckPolicy& policy, bool seen_good, TimePoint since,
                           TimePoint now) noexcept;

/// Adds one outcome with its reason. Pure.
Step step(const CheckState& state, const CheckPolicy& policy, Outcome outcome, ReasonCode reason,
          TimePoint now) noexcept;

/// Whether the check counts for gates, incidents and the overall verdict: not when it is optional
/// and was never healthy, because its subject may not exist.
bool counts(const CheckState& state, bool optional) noexcept;

/// Whether a gate passes the check: also in `error`; in discovery when the check is optional,
/// unless it was good once and is blind; in `reported` when the check does not count.
bool ready(const CheckState& state, bool optional) noexcept;

/// The exit code: 0 healthy, 1 degraded or failing, 2 reported, 3 discovery or blind. `reported`
/// takes precedence over blind, and is 1 for an optional check, because its incident is a warning.
int exit_code(const CheckState& state, bool optional) noexcept;

std::string_view to_string(State state) noexcept;

}  // namespace wardmote::judge
