#pragma once

#include <vector>

#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"

namespace wardmote::judge::raft {

/// The judgement on each configured member by this round alone, in the order of the opinions. The
/// check machine does the damping over time.
std::vector<MemberVerdict> judge_members(const ClusterSnapshot& snapshot);

}  // namespace wardmote::judge::raft
