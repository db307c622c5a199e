#include "incidents/hold.h"

#include <optional>
#include <string>

#include "incidents/held_verdict.h"
#include "incidents/incident_manager.h"
#include "judge/outcome.h"
#include "judge/shown_at_once.h"
#include "judge/verdict.h"

namespace wardmote::incidents {
namespace {

using judge::Outcome;
using judge::Verdict;

/// So often in a row a thing must be seen well to be believed.
constexpr int kCleanRounds = 3;

Verdict verdict_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOk: return Verdict::kOk;
    case Outcome::kWarn: return Verdict::kWarning;
    case Outcome::kFail: return Verdict::kCritical;
    case Outcome::kUnknown: return Verdict::kUnknown;
  }
  return Verdict::kUnknown;
}

}  // namespace

Holds holds_of(IncidentManager& incidents) {
  return {.held = [&incidents](const std::string& thing) { return incidents.held(thing); },
          .seen_well =
              [&incidents](const std::string& thing) {
                incidents.seen_well(thing, judge::kShownAtOnce);
              }};
}

std::optional<HeldVerdict> Hold::looked(const Holds& holds, const std::string& thing, Round round) {
  std::optional<HeldVerdict> held = what_holds(holds, thing, round);
  if (held && !held->binds) held.reset();
  return held;
}

std::optional<HeldVerdict> Hold::what_holds(const Holds& holds, const std::string& thing,
                                            Round round) {
  std::optional<HeldVerdict> held = holds.held ? holds.held(thing) : std::nullopt;
  if (!held) {
    clean_rounds_ = 0;
    return held;
  }
  if (round == Round::kPart) return held;
  clean_rounds_ = round == Round::kClean ? clean_rounds_ + 1 : 0;
  if (clean_rounds_ < kCleanRounds) return held;
  holds.seen_well(thing);
  return holds.held(thing);
}

void hold_down(Verdict& seen, const std::optional<HeldVerdict>& held) noexcept {
  if (held && badness(seen) < badness(held->verdict)) seen = held->verdict;
}

void hold_down(Outcome& seen, const std::optional<HeldVerdict>& held) noexcept {
  Verdict verdict = verdict_of(seen);
  hold_down(verdict, held);
  seen = outcome_of(verdict);
}

}  // namespace wardmote::incidents
