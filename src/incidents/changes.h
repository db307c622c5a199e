#pragma once
// What changed since the last judgement: each change is told once, and nothing while nothing
// changes.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "incidents/change_feed.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::incidents {

/// finding_raised, finding_changed, finding_cleared: from `before` to what `thing` holds. `counts`:
/// as of its check.
void tell_findings(ChangeFeed& feed, const serve::ThingView& thing,
                   std::span<const judge::Finding> before, bool counts, TimePoint now);

/// finding_changed, of each that `thing` holds: what it means is another thing now.
void tell_findings_again(ChangeFeed& feed, const serve::ThingView& thing, bool counts,
                         TimePoint now);

/// check_changed and check_blind, of a check that fails or is blind: what it means may be another
/// thing in a new configuration.
void tell_check_again(ChangeFeed& feed, const serve::CheckView& check);

/// check_changed, check_blind, check_seen_again: from `before` to what `check` holds.
void tell_check_change(ChangeFeed& feed, const serve::CheckView& check,
                       const judge::CheckState& before);

/// gate_opened, gate_closed.
void tell_gate_change(ChangeFeed& feed, const serve::GateView& gate,
                      const std::vector<serve::CheckView>& checks);

/// agent_degraded, agent_recovered.
void tell_self_change(ChangeFeed& feed, const std::string& node,
                      const std::optional<std::string>& before,
                      const std::optional<std::string>& after);

}  // namespace wardmote::incidents
