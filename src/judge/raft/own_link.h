#pragma once

#include <cstddef>
#include <cstdint>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// What a member's report says of a connection of its own.
enum class LinkState : std::uint8_t { kUp, kDown, kMissing, kUnknown };

inline bool is_broken(LinkState state) noexcept {
  return state == LinkState::kDown || state == LinkState::kMissing;
}

/// The line of the server in this report; null: it has none.
const Server* find_line(const Status& status, const ListedServer& listed) noexcept;

/// Whether it leads to or from the server `listed`. A connection to an address is the same,
/// whichever of the servers listed there it was opened for.
bool leads_to(const Connection& connection, const ListedServer& listed) noexcept;

/// Whether a connection that the reporting member opens to the address of the server is down. To a
/// listed address it opens one for each server that is listed there.
bool has_broken_link(const Member& member, const ListedServer& listed) noexcept;

/// How many other listed servers have no identified link in that direction.
std::size_t count_unlinked(const ClusterSnapshot& snapshot, const Member& member,
                           bool outgoing) noexcept;

/// The connection that the member, which reports its status, opens to the server. The one through
/// which a member joined stays unidentified for ever (`->0000`), so it is found by elimination, or
/// not at all.
LinkState own_link(const ClusterSnapshot& snapshot, const Member& member,
                   const ListedServer& listed) noexcept;

}  // namespace wardmote::judge::raft
