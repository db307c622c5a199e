#pragma once
// What changed, one log line for each event, and nothing while nothing changes.

#include <optional>
#include <string>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/raft/assess.h"
#include "serve/view.h"

namespace wardmote::agent {

/// cluster_verdict, member_changed, finding_raised, finding_changed, finding_cleared: from `before`
/// to what `cluster` holds.
void log_cluster_changes(const serve::ClusterView& cluster, const judge::raft::Assessment& before,
                         TimePoint now);

/// check_changed, check_blind, check_seen_again, check_overdue: from `before` to what `check`
/// holds.
void log_check_change(const serve::CheckView& check, const judge::CheckState& before);

/// gate_opened, gate_closed.
void log_gate_change(const serve::GateView& gate);

/// agent_degraded, agent_recovered.
void log_self_change(const std::optional<std::string>& before,
                     const std::optional<std::string>& after);

}  // namespace wardmote::agent
