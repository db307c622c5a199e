#pragma once

#include <string>

#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"

namespace wardmote::judge::raft {

/// Advice on the removal of the listed server. It has the command only if objection_to_kick() has
/// no objection; otherwise the text says what is missing.
Advice advise_kick(const ClusterSnapshot& snapshot, const ListedServer& listed);

/// What to do when a majority is impossible; only where that is certain.
std::string recover_quorum();

}  // namespace wardmote::judge::raft
