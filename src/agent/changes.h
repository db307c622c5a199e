#pragma once
// What changed since the last judgement: each change is told once, and nothing while nothing
// changes.

#include <optional>
#include <string>

#include "agent/change_feed.h"
#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/check_machine.h"
#include "judge/raft/assess.h"
#include "serve/view.h"

namespace wardmote::agent {

/// cluster_verdict, member_changed, finding_raised, finding_changed, finding_cleared: from `before`
/// to what `cluster` holds.
void tell_cluster_changes(ChangeFeed& feed, const serve::ClusterView& cluster,
                          const judge::raft::Assessment& before, TimePoint now);

/// finding_raised, finding_changed, finding_cleared: from `before` to what `mesh` holds.
void tell_mesh_changes(ChangeFeed& feed, const serve::MeshView& mesh,
                       const judge::bgp::MeshAssessment& before, TimePoint now);

/// check_changed, check_blind, check_seen_again, check_overdue: from `before` to what `check`
/// holds.
void tell_check_change(ChangeFeed& feed, const serve::CheckView& check,
                       const judge::CheckState& before);

/// gate_opened, gate_closed.
void tell_gate_change(ChangeFeed& feed, const serve::GateView& gate,
                      const std::vector<serve::CheckView>& checks);

/// agent_degraded, agent_recovered.
void tell_self_change(ChangeFeed& feed, const std::string& node,
                      const std::optional<std::string>& before,
                      const std::optional<std::string>& after);

}  // namespace wardmote::agent
