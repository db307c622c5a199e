#include "incidents/hold.h"

#include <optional>
#include <span>
#include <string>

#include "incidents/held_verdict.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/verdict.h"

namespace wardmote::incidents {
namespace {

/// So often in a row a thing must be seen well to be believed.
constexpr int kCleanRounds = 3;

}  // namespace

Holds holds_of(IncidentManager& incidents, std::span<const judge::Code> shown_at_once) {
  return {
      .held = [&incidents](const std::string& thing) { return incidents.held(thing); },
      .seen_well = [&incidents, shown_at_once](
                       const std::string& thing) { incidents.seen_well(thing, shown_at_once); }};
}

std::optional<HeldVerdict> Hold::keep(const Holds& holds, const std::string& thing,
                                      std::optional<bool> clean) {
  std::optional<HeldVerdict> held = holds.held ? holds.held(thing) : std::nullopt;
  if (!held) {
    clean_rounds_ = 0;
    return held;
  }
  if (!clean) return held;
  clean_rounds_ = *clean ? clean_rounds_ + 1 : 0;
  if (clean_rounds_ < kCleanRounds) return held;
  holds.seen_well(thing);
  return holds.held(thing);
}

judge::Verdict worse_of(const std::optional<HeldVerdict>& held, judge::Verdict seen) noexcept {
  return held && badness(held->verdict) > badness(seen) ? held->verdict : seen;
}

}  // namespace wardmote::incidents
