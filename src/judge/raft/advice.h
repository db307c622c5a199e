#pragma once

#include <string>

#include "judge/finding.h"
#include "judge/raft/picture.h"

namespace wardmote::judge::raft {

/// Advice to remove the listed server from the cluster. It carries the command only if removal is
/// safe: the server does not answer as that id, the leader does not hear it, a majority of the rest
/// lives, no other change is under way, and a leader can commit it. Otherwise the text says what
/// stands in the way.
Advice advise_kick(const Picture& picture, const Seat& seat);

/// What to do while nothing can be committed.
std::string recover_quorum();

}  // namespace wardmote::judge::raft
