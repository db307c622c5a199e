#include "judge/raft/own_link.h"

#include <algorithm>
#include <cstddef>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

bool has_link(const Status& status, const ListedServer& listed, bool outgoing) noexcept {
  return std::ranges::any_of(status.links, [&](const Link& link) {
    return link.outgoing == outgoing && leads_to(status, link, listed);
  });
}

}  // namespace

const Server* find_line(const Status& status, const ListedServer& listed) noexcept {
  const auto found = std::ranges::find_if(status.servers, [&](const Server& server) {
    return same_server(server.id, server.address, listed.id, listed.address);
  });
  return found == status.servers.end() ? nullptr : &*found;
}

bool leads_to(const Status& status, const Link& link, const ListedServer& listed) noexcept {
  if (link.peer == kNobody) return false;
  const Server* const peer = find_named(status, link.peer);
  if (!peer) return false;
  const bool same_address =
      link.outgoing && !listed.address.empty() && peer->address == listed.address;
  return same_address || same_server(peer->id, peer->address, listed.id, listed.address);
}

bool has_broken_link(const Status& status, const ListedServer& listed) noexcept {
  return std::ranges::any_of(status.links, [&](const Link& link) {
    return link.outgoing && !link.up && leads_to(status, link, listed);
  });
}

std::size_t count_unlinked(const ClusterSnapshot& snapshot, const Member& member,
                           bool outgoing) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(snapshot.servers, [&](const ListedServer& listed) {
        return &listed != member.listed && !has_link(*member.status(), listed, outgoing);
      }));
}

LinkState own_link(const ClusterSnapshot& snapshot, const Member& member,
                   const ListedServer& listed) noexcept {
  const Status& status = *member.status();
  const Server* const line = find_line(status, listed);
  if (line && shares_its_name(status, *line)) return LinkState::kUnknown;
  LinkState state = LinkState::kMissing;
  const Link* unidentified = nullptr;
  std::size_t unidentified_links = 0;
  for (const Link& link : status.links) {
    if (!link.outgoing) continue;
    if (leads_to(status, link, listed)) {
      if (link.up) return LinkState::kUp;
      state = LinkState::kDown;
    } else if (link.peer == kNobody) {
      unidentified = &link;
      ++unidentified_links;
    }
  }
  if (state == LinkState::kDown || !unidentified) return state;
  const bool unique = unidentified_links == 1 && count_unlinked(snapshot, member, true) == 1;
  if (!unique) return LinkState::kUnknown;
  return unidentified->up ? LinkState::kUp : LinkState::kDown;
}

}  // namespace wardmote::judge::raft
