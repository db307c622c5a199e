#pragma once

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/memory.h"

// Members whose list and leader do not count, though they answer.

namespace wardmote::judge::raft {

/// Whether it takes part in a cluster that has a leader, in whatever list.
bool serves(const Member& member, const ClusterSnapshot& snapshot) noexcept;
/// Fills Member::outvoted, outvoted_now and outvoted_by; the leaders of the members' own lists are
/// known.
void find_outvoted(ClusterSnapshot& snapshot);
/// Member::left_behind
bool is_left_behind(const Member& member, const ClusterSnapshot& snapshot, const Memory& memory);

}  // namespace wardmote::judge::raft
