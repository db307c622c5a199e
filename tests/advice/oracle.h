#pragma once

#include <optional>
#include <string>

#include "advice/agent.h"
#include "advice/cluster.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/raft/assess.h"
#include "judge/raft/repair/repair_plan.h"

namespace wardmote::advice {

/// What an agent says and plans, held against the truth: a sentence about what is wrong with it,
/// else nothing.
std::optional<std::string> fault_of(const Cluster& cluster, const Agent& agent,
                                    const judge::Finding& finding);
std::optional<std::string> fault_of(const Cluster& cluster, const RepairPlan& plan);
/// Of an act that is about to be done.
std::optional<std::string> fault_of(const Cluster& cluster, const Agent& agent,
                                    const RepairPlan& plan, StepKind act);

/// The first server that is dead for good, listed, and named by no finding, after everything else
/// has been well for long.
std::optional<std::string> silence_of(const Cluster& cluster, const Agent& agent);

/// The server that a kick of this id removes.
std::optional<ServerIndex> resolve(const Cluster& cluster, const MemberId& id);

}  // namespace wardmote::advice
