#include "judge/raft/own_link.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

bool is_connected(const Member& member, const ListedServer& listed, bool outgoing) noexcept {
  return std::ranges::any_of(member.connections, [&](const Connection& connection) {
    return connection.outgoing == outgoing && leads_to(connection, listed);
  });
}

}  // namespace

const Server* find_line(const Status& status, const ListedServer& listed) noexcept {
  const auto found = std::ranges::find_if(status.servers, [&](const Server& server) {
    return same_server(server.id, server.address, listed.id, listed.address);
  });
  return found == status.servers.end() ? nullptr : &*found;
}

bool leads_to(const Connection& connection, const ListedServer& listed) noexcept {
  const Server* const peer = connection.peer;
  if (connection.nameless || !peer) return false;
  if (same_server(peer->id, peer->address, listed.id, listed.address)) return true;
  return connection.outgoing && !listed.address.empty() && same_text(peer->address, listed.address);
}

bool has_broken_link(const Member& member, const ListedServer& listed) noexcept {
  return std::ranges::any_of(member.connections, [&](const Connection& connection) {
    return connection.outgoing && !connection.up && leads_to(connection, listed);
  });
}

std::size_t count_unlinked(const ClusterSnapshot& snapshot, const Member& member,
                           bool outgoing) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(snapshot.servers, [&](const ListedServer& listed) {
        return &listed != member.listed && !is_connected(member, listed, outgoing);
      }));
}

LinkState own_link(const ClusterSnapshot& snapshot, const Member& member,
                   const ListedServer& listed) noexcept {
  const Status& status = *member.status();
  const Server* const line = find_line(status, listed);
  if (line && member.lists_namesakes && shares_its_name(status, *line)) return LinkState::kUnknown;
  LinkState state = LinkState::kMissing;
  const Connection* unidentified = nullptr;
  std::size_t unidentified_links = 0;
  for (const Connection& connection : member.connections) {
    if (!connection.outgoing) continue;
    if (leads_to(connection, listed)) {
      if (connection.up) return LinkState::kUp;
      state = LinkState::kDown;
    } else if (connection.nameless) {
      unidentified = &connection;
      ++unidentified_links;
    }
  }
  if (state == LinkState::kDown || !unidentified) return state;
  const bool unique = unidentified_links == 1 && count_unlinked(snapshot, member, true) == 1;
  if (!unique) return LinkState::kUnknown;
  return unidentified->up ? LinkState::kUp : LinkState::kDown;
}

}  // namespace wardmote::judge::raft
