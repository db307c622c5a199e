#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "incidents/held_verdict.h"
#include "judge/outcome.h"
#include "judge/verdict.h"

namespace wardmote::incidents {

class IncidentManager;

/// What an earlier life of the agent knew of things, by the names of the checks that stand for
/// them.
struct Holds {
  std::function<std::optional<HeldVerdict>(const std::string& thing)> held;
  /// All of it was looked at several times in a row, and nothing was to be seen.
  std::function<void(const std::string& thing)> seen_well;
};

/// What `incidents` knows; it outlives them.
Holds holds_of(IncidentManager& incidents);

/// What a look at a whole thing was worth.
enum class Round : std::uint8_t {
  kPart,   ///< of some of it nothing new was seen yet, and nothing is wrong with the rest
  kClean,  ///< all of it answered, and nothing shows that might become a finding
  kOther,
};

/// What is held of one thing: it is called no better than an earlier life of the agent knew it,
/// until it is seen that bad again, or clean in several whole rounds in a row. A value.
class Hold {
 public:
  /// The thing was looked at. What is held of it now, if anything.
  std::optional<HeldVerdict> looked(const Holds& holds, const std::string& thing, Round round);

 private:
  std::optional<HeldVerdict> what_holds(const Holds& holds, const std::string& thing, Round round);

  int clean_rounds_ = 0;  ///< in a row, while something is held
};

/// Makes `seen` no better than what is held.
void hold_down(judge::Verdict& seen, const std::optional<HeldVerdict>& held) noexcept;
void hold_down(judge::Outcome& seen, const std::optional<HeldVerdict>& held) noexcept;

}  // namespace wardmote::incidents
