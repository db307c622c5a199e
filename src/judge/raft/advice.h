#pragma once

#include <optional>
#include <string>

#include "judge/finding.h"
#include "judge/raft/picture.h"

namespace wardmote::judge::raft {

/// Advice to remove the listed server from the cluster. It carries the command only if removal is
/// safe: the server does not answer as that id, the leader does not hear it, a majority of the rest
/// lives, no other change is under way, and a leader can commit it. Otherwise the text says what
/// stands in the way.
Advice advise_kick(const Picture& picture, const Seat& seat);

/// What forbids that removal, or nothing.
std::optional<std::string> objection_to_kick(const Picture& picture, const Seat& seat);

/// Whether it can acknowledge a change now: it is the leader, or a voter that the leader hears.
bool acknowledges(const Picture& picture, const Seat& seat) noexcept;

/// What to do while nothing can be committed.
std::string recover_quorum();

}  // namespace wardmote::judge::raft
