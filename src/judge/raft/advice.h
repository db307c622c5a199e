#pragma once

#include <string>

#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"

namespace wardmote::judge::raft {

/// Advice on the removal of the listed server. It has the command only if objection_to_kick() has
/// no objection; otherwise the text says what is missing.
Advice advise_kick(const ClusterSnapshot& snapshot, const ListedServer& listed);

}  // namespace wardmote::judge::raft
