#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/outcome.h"

namespace wardmote::judge {

/// The four states of every check (of the guest monitor, used for all).
enum class State : std::uint8_t {
  kDiscovery,  ///< not yet seen good since start
  kHealthy,    ///< good, perhaps degraded
  kError,      ///< failing, not yet `fall` times in a row
  kReported,   ///< confirmed
};

struct CheckPolicy {
  int fall = 3;  ///< failures in a row until `reported`, at least 1
  int rise = 2;  ///< successes in a row until `reported` is healthy again, at least 1
  Duration unknown_limit = std::chrono::seconds(60);  ///< unknown for longer than this is blind
  Duration discovery_limit =
      std::chrono::seconds(60);  ///< not seen good for this long since start is overdue
  friend bool operator==(const CheckPolicy&, const CheckPolicy&) = default;
};

/// All that a check remembers. A value: copy it to keep it over a reload.
struct CheckState {
  State state = State::kDiscovery;
  Outcome last = Outcome::kUnknown;
  int failures = 0;       ///< in a row; unknown neither counts nor resets
  int successes = 0;      ///< in a row, while reported
  bool degraded = false;  ///< healthy with a warning
  bool blind = false;     ///< unknown for longer than the limit
  bool overdue = false;   ///< in discovery for longer than the limit
  TimePoint since;        ///< of `state`
  TimePoint known;        ///< when something other than unknown was last seen; at first, the start
  friend bool operator==(const CheckState&, const CheckState&) = default;
};

/// A change that others must hear of.
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

/// The state of a check that begins to be watched.
CheckState begin_check(TimePoint now) noexcept;

/// Feeds one outcome. Pure.
Step step(const CheckState& state, const CheckPolicy& policy, Outcome outcome,
          TimePoint now) noexcept;

/// Whether a gate may pass it: discovery does not, unless the check is optional; `error` still
/// does, `reported` does not.
bool ready(const CheckState& state, bool optional) noexcept;

/// DESIGN's table: 0 healthy, 1 degraded or failing, 2 reported, 3 discovery or blind.
int exit_code(const CheckState& state) noexcept;

std::string_view to_string(State state) noexcept;

}  // namespace wardmote::judge
