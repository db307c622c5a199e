#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {
namespace {

/// More servers than any raft cluster has. A longer list is compared only up to here.
constexpr std::size_t kMaxServers = 64;

void take_servers(ClusterSnapshot& snapshot, const Memory& memory) {
  if (!snapshot.newest) {
    for (const RememberedServer& remembered : memory.list()) {
      snapshot.servers.push_back({.dialect = snapshot.dialect,
                                  .id = remembered.id,
                                  .nickname = remembered.nickname,
                                  .address = remembered.address,
                                  .voter = remembered.voter});
    }
    return;
  }
  const std::vector<Server>& servers = snapshot.newest->status()->servers;
  snapshot.servers.reserve(std::min(servers.size(), kMaxServers));
  for (const Server& server : servers) {
    if (snapshot.servers.size() == kMaxServers) break;
    ListedServer listed{.dialect = snapshot.dialect,
                        .id = server.id,
                        .nickname = server.nickname,
                        .address = server.address,
                        .phase = server.phase};
    listed.voter = is_voter(server.phase);
    listed.line = &server;
    snapshot.servers.push_back(listed);
  }
}

/// The leader's list says which servers it hears; usually it is the newest list itself.
void find_lines_at_leader(ClusterSnapshot& snapshot) noexcept {
  if (!snapshot.leader || !snapshot.leader->status()) return;
  for (ListedServer& listed : snapshot.servers) {
    if (snapshot.leader == snapshot.newest) {
      listed.at_leader = listed.line;
      continue;
    }
    for (const Server& server : snapshot.leader->status()->servers) {
      if (same_server(server.id, server.address, listed.id, listed.address))
        listed.at_leader = &server;
    }
  }
}

bool may_report(const Member& member, const ListedServer& listed) noexcept {
  return member.takes_part() || (member.presence == Presence::kJoining && !listed.voter);
}

void find_reporters(ClusterSnapshot& snapshot) noexcept {
  // By id and address first; by id alone only for members without a server by then, because four
  // digits may belong to two servers.
  for (const bool lenient : {false, true}) {
    for (Member& member : snapshot.members) {
      if (member.listed || !member.id.known()) continue;
      for (ListedServer& listed : snapshot.servers) {
        if (listed.reporter && lenient) continue;
        if (!may_report(member, listed) ||
            !same_server(member.id, member.address, listed.id, listed.address, lenient))
          continue;
        member.listed = &listed;
        if (!listed.reporter)
          // of a cloned server id, the first member by name gets the server
          listed.reporter = &member;
        break;
      }
    }
  }
}

bool answers_now(const Member& member) noexcept {
  return member.takes_part() || member.presence == Presence::kJoining ||
         member.presence == Presence::kForeign;
}

void find_successors(ClusterSnapshot& snapshot) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    if (listed.reporter || listed.address.empty()) continue;
    for (const Member& member : snapshot.members) {
      if (answers_now(member) && member.status() && member.address == listed.address)
        listed.successor = &member;
    }
  }
}

/// Completes ids from remembered or reported ones, because lists have four digits only.
void complete_ids(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    // Who reports another address may be another server, which was removed and does not know it
    // yet.
    if (listed.reporter &&
        same_server(listed.reporter->id, listed.reporter->address, listed.id, listed.address)) {
      listed.id = listed.reporter->id;
    }
    if (listed.id.full()) continue;
    for (const RememberedServer& remembered : memory.list()) {
      const bool same =
          compatible(remembered.id, listed.id) && remembered.address == listed.address;
      if (same && remembered.id.digits > listed.id.digits) listed.id = remembered.id;
    }
  }
}

bool may_own(const Member& member) noexcept {
  return !member.listed && !answers_now(member);
}

void own(Member& member, ListedServer& listed) noexcept {
  listed.owner = &member;
  listed.attributed = true;
  member.listed = &listed;
}

/// Makes the member the owner of the first listed server for which `is_its` is true and which no
/// member reports or owns.
template <class IsIts>
void own_first(ClusterSnapshot& snapshot, Member& member, IsIts is_its) {
  for (ListedServer& listed : snapshot.servers) {
    if (listed.reporter || listed.owner || !is_its(listed)) continue;
    own(member, listed);
    return;
  }
}

/// Remembered servers that no member reports and that must be silent members: by remembered id,
/// then by address.
void find_owners(ClusterSnapshot& snapshot) noexcept {
  for (Member& member : snapshot.members) {
    if (!may_own(member) || !member.identity) continue;
    own_first(snapshot, member, [&](const ListedServer& listed) {
      return same_server(member.identity->id, member.identity->address, listed.id, listed.address);
    });
  }
  for (Member& member : snapshot.members) {
    if (!may_own(member) || member.address.empty()) continue;
    // The member was another server there, and is none now: other servers listed at its address are
    // ghosts.
    if (member.presence == Presence::kGone && member.id.known()) continue;
    own_first(snapshot, member,
              [&](const ListedServer& listed) { return listed.address == member.address; });
  }
}

/// Whether this age is from after the moment when the server's owner fell silent or became
/// something else.
bool is_later_than_silence(const ListedServer& listed, const Member& witness,
                           Milliseconds age) noexcept {
  if (!listed.owner) return true;
  if (!listed.owner->silent_from) return false;
  return witness.opinion->begun - age > *listed.owner->silent_from;
}

/// Whether `witness` heard the server of `listed` lately.
bool hears(const ClusterSnapshot& snapshot, const ListedServer& listed, const Member& witness,
           const Server& line) noexcept {
  if (!line.last_message || !snapshot.fresh(*line.last_message)) return false;
  return is_later_than_silence(listed, witness, *line.last_message);
}

/// Whether a follower heard it lately, most likely because it campaigns.
bool hears_campaign(const ClusterSnapshot& snapshot, const ListedServer& listed,
                    const Member& witness, const Server& line) noexcept {
  return line.last_message && snapshot.fresh_at_follower(*line.last_message) &&
         is_later_than_silence(listed, witness, *line.last_message);
}

void find_heard(ClusterSnapshot& snapshot) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    listed.heard = listed.at_leader && hears(snapshot, listed, *snapshot.leader, *listed.at_leader);
  }
  if (snapshot.leader && snapshot.leader->status()) return;
  // The leader itself reports nothing. It would not lead for long without a majority, so hearing it
  // proves one; but a server that answers us without leading has stepped down.
  for (const Member& member : snapshot.members) {
    if (!member.hears_leader || member.status()->term < snapshot.term()) continue;
    const Server& line = *member.leader_line;
    for (ListedServer& listed : snapshot.servers) {
      if (!same_server(line.id, line.address, listed.id, listed.address)) continue;
      if (listed.reporter && listed.reporter->status()) continue;
      if (line.last_message ? hears(snapshot, listed, member, line) : !listed.owner) {
        listed.heard = true;
        snapshot.quorum_proven = true;
      }
    }
  }
}

bool is_refused(const ListedServer& listed) noexcept {
  return listed.owner && !listed.reporter && listed.owner->presence == Presence::kDown;
}

/// Ids may begin alike, of different clusters and of servers of one: then the address tells which.
/// What follows the four digits that are listed there may be another's (complete_ids()).
bool is_of(const Sighting& sighting, const ListedServer& listed,
           const ClusterSnapshot& snapshot) noexcept {
  const MemberId& cluster = snapshot.cluster_id;
  const bool another_cluster =
      sighting.cluster.known() && cluster.known() && !compatible(sighting.cluster, cluster);
  if (another_cluster || !compatible(sighting.server, listed.id)) return false;
  if (sighting.address.empty() || sighting.address == listed.address) return true;
  return std::ranges::none_of(snapshot.servers, [&](const ListedServer& other) {
    return other.address == sighting.address && short_name(other.id) == short_name(sighting.server);
  });
}

bool may_be_any(const Sighting& sighting, const std::string& database) noexcept {
  return !sighting.server.known() && (sighting.database.empty() || sighting.database == database);
}

/// What anybody is answered by now says more than what another saw last.
bool says_more(const Sighting& one, const Sighting& other) noexcept {
  return std::tuple(one.still, one.at) > std::tuple(other.still, other.at);
}

void find_seen_elsewhere(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    for (const Sighting& sighting : memory.elsewhere()) {
      if (sighting.beside) {
        listed.shares_address |= is_of(sighting, listed, snapshot);
        continue;
      }
      const Sighting*& awaited = listed.awaited_elsewhere;
      // Who waits for an answer says more than who is refused.
      const bool more = !awaited || awaited->refused;
      if (more && may_be_any(sighting, snapshot.expectation->database)) awaited = &sighting;
      if (!is_of(sighting, listed, snapshot)) continue;
      if (!sighting.still && (more || !sighting.refused)) awaited = &sighting;
      if (!listed.seen_elsewhere || says_more(sighting, *listed.seen_elsewhere))
        listed.seen_elsewhere = &sighting;
    }
    listed.witnessed |= !listed.reporter && listed.answers_elsewhere();
  }
}

/// As the rounds before have shown.
void find_displaced(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    if (listed.reporter) continue;
    const Identity* const its = listed.owner ? listed.owner->identity : nullptr;
    listed.displaced = its && its->elsewhere;
    for (const RememberedServer& before : memory.list()) {
      const bool same = compatible(before.id, listed.id) && before.address == listed.address;
      listed.displaced |= same && before.displaced;
    }
  }
}

void find_who_hears(const ClusterSnapshot& snapshot, ListedServer& listed) noexcept {
  for (const Member& member : snapshot.members) {
    if (&member == snapshot.leader || !member.takes_part() || !member.status()) continue;
    for (const Server& line : member.status()->servers) {
      // Most lines are old, and that is cheaper to see than whose they are.
      if (line.self || !hears_campaign(snapshot, listed, member, line)) continue;
      listed.witnessed |= same_server(line.id, line.address, listed.id, listed.address);
    }
  }
}

void find_who_is_connected(const ClusterSnapshot& snapshot, ListedServer& listed) noexcept {
  const bool refused = is_refused(listed);
  for (const Member& member : snapshot.members) {
    if (!member.status()) continue;
    // Another connection would tell nothing more.
    if (listed.linked && (listed.witnessed || !refused)) return;
    const bool linked = std::ranges::any_of(member.connections, [&](const Connection& each) {
      return shows_life(snapshot, each, listed);
    });
    listed.linked |= linked;
    // A closed socket says nothing about the raft behind it; connections with its peers do.
    listed.witnessed |= linked && refused && member.takes_part();
  }
}

/// A server that the leader does not hear is alive if anybody else hears it.
void find_witnesses(ClusterSnapshot& snapshot) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    find_who_hears(snapshot, listed);
    find_who_is_connected(snapshot, listed);
  }
}

bool hears_a_majority(const ClusterSnapshot& snapshot) noexcept {
  const Member* const leader = snapshot.leader;
  if (!leader || !leader->status() || !tells_ages(*leader->status())) return false;
  std::size_t voters = 0;
  std::size_t hears = 0;
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.voter) continue;
    ++voters;
    hears += listed.heard || listed.reporter == leader;
  }
  return hears >= voters / 2 + 1;
}

/// The only member that was never identified must be the only server of which no other member knows
/// the place, also when that is heard: then it may be somewhere else.
void attribute_the_heard(ClusterSnapshot& snapshot) noexcept {
  ListedServer* its = nullptr;
  for (ListedServer& listed : snapshot.servers) {
    if (listed.reporter || listed.owner || listed.successor || !listed.voter) continue;
    if (its) return;
    its = &listed;
  }
  if (!its) return;
  Member& member = *std::ranges::find_if(snapshot.members, &Member::unplaced);
  // Who was heard before only may have ended just then.
  if (!member.silent_from || heard_by_members(snapshot, *its) <= member.silent_from) return;
  own(member, *its);
  its->guessed = true;
}

/// Silent members that were never identified must be among the silent servers that no member
/// claims.
void attribute_the_rest(ClusterSnapshot& snapshot) noexcept {
  const auto unclaimed = [](const ListedServer& listed) {
    return !listed.reporter && !listed.owner && !listed.successor && !listed.heard &&
           !listed.witnessed && listed.voter;
  };
  const auto unplaced = [](const Member& member) { return member.unplaced(); };
  const auto servers = std::ranges::count_if(snapshot.servers, unclaimed);
  const auto members = std::ranges::count_if(snapshot.members, unplaced);
  if (servers == 0 && members == 1) return attribute_the_heard(snapshot);
  if (servers == 0 || servers > members) return;
  const bool unique = servers == 1 && members == 1;
  for (ListedServer& listed : snapshot.servers) {
    if (!unclaimed(listed)) continue;
    if (unique) own(*std::ranges::find_if(snapshot.members, unplaced), listed);
    listed.guessed = unique;
    listed.attributed = true;
  }
}

bool is_certain_silence(const Member& member) noexcept {
  return member.presence != Presence::kUnknown;
}

/// Whether its term is above the leader's: it takes nothing from that leader, which takes no vote
/// of its own from it, though it hears it campaign (raft.c, raft_receive_term__).
bool campaigns_in_vain(const ClusterSnapshot& snapshot, const Member& member) noexcept {
  return member.status()->role == Role::kCandidate &&
         member.status()->term > snapshot.leader->status()->term;
}

/// Whether neither end of the connection between this server and the leader hears the other, or it
/// follows nobody although it is heard.
bool is_cut_off(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  const Member& member = *listed.reporter;
  if (!listed.voter || !listed.at_leader || snapshot.leader == &member) return false;
  if (listed.heard) return member.status() && campaigns_in_vain(snapshot, member);
  const std::optional<Local>& local = member.opinion->local;
  return member.status() ? !member.hears_leader : !(local && local->connected);
}

/// Whether the only process that can run at the address is that of a member that certainly is down:
/// then none of the servers listed there is alive.
bool has_a_dead_address(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return !listed.address.empty() &&
         std::ranges::any_of(snapshot.servers, [&](const ListedServer& other) {
           return other.address == listed.address && other.owner && !other.guessed &&
                  is_certain_silence(*other.owner);
         });
}

Life judge_life(const ClusterSnapshot& snapshot, const ListedServer& listed,
                bool leader_tells) noexcept {
  if (listed.reporter) {
    if (listed.reporter->failed) return Life::kSilent;
    return leader_tells && is_cut_off(snapshot, listed) ? Life::kCutOff : Life::kLive;
  }
  if (listed.heard) return Life::kLive;
  // An address belongs to one process, unless two said that it is theirs and were alive.
  if (listed.successor && !listed.is_loose()) return Life::kSilent;
  if (listed.witnessed) return leader_tells ? Life::kCutOff : Life::kUnknown;
  if (listed.owner && is_certain_silence(*listed.owner)) return Life::kSilent;
  if (has_a_dead_address(snapshot, listed)) return Life::kSilent;
  if (snapshot.leader_vouches && listed.at_leader) return Life::kSilent;
  if (listed.owner) return Life::kUnknown;
  if (!listed.attributed) return Life::kUnasked;
  const auto may_live = [](const Member& member) {
    return may_own(member) && !is_certain_silence(member);
  };
  return std::ranges::any_of(snapshot.members, may_live) ? Life::kUnknown : Life::kSilent;
}

void count_quorum(ClusterSnapshot& snapshot) noexcept {
  std::size_t replaced = 0;
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.voter) continue;
    ++snapshot.quorum.voters;
    snapshot.stalled += listed.life == Life::kLive && listed.stalled;
    snapshot.quorum.live += listed.life == Life::kLive && !listed.stalled;
    snapshot.cut_off += listed.life == Life::kCutOff;
    snapshot.unknown += listed.life == Life::kUnknown;
    snapshot.unasked += listed.life == Life::kUnasked;
    replaced += listed.life == Life::kSilent && listed.successor != nullptr;
  }
  if (snapshot.quorum.voters > 0) snapshot.quorum.needed = snapshot.quorum.voters / 2 + 1;
  // A leader that prints no ages (OVS 2.9 to 2.14) steps down by itself when it hears no majority.
  // Whether a server lives at whose address another one answers, nothing but an age would tell.
  const Member* const leader = snapshot.leader;
  if (leader && leader->status() && !tells_ages(*leader->status()) && snapshot.quorum.voters > 1) {
    snapshot.quorum_proven =
        snapshot.quorum.live + snapshot.unknown + snapshot.unasked + replaced >=
        snapshot.quorum.needed;
  }
  if (snapshot.quorum_proven)
    snapshot.quorum.live = std::max(snapshot.quorum.live, snapshot.quorum.needed);
}

/// A member that we cannot reach while others hear it is not down; if a leader that hears the rest
/// does not hear it, it is.
void believe_the_others(ClusterSnapshot& snapshot) noexcept {
  const bool stranger_lives = std::ranges::any_of(snapshot.servers, [](const ListedServer& listed) {
    return !listed.reporter && !listed.attributed && (listed.heard || listed.witnessed);
  });
  for (Member& member : snapshot.members) {
    if (member.presence != Presence::kDown && !member.unreachable) continue;
    const ListedServer* const listed = member.listed;
    member.heard = listed ? listed->heard || listed->witnessed
                          : member.unreachable && !member.id.known() && stranger_lives;
    const bool unheard = listed && listed->life == Life::kSilent && snapshot.leader_vouches;
    if (member.heard) {
      const Identity* const before = member.identity;
      member.heard_since = before && before->heard_since ? before->heard_since : snapshot.shown;
      member.presence = Presence::kUnknown;
    } else if (member.unreachable && unheard) {
      member.presence = Presence::kDown;
    }
  }
}

}  // namespace

void fill_servers(ClusterSnapshot& snapshot, const Memory& memory) {
  take_servers(snapshot, memory);
  find_lines_at_leader(snapshot);
  find_reporters(snapshot);
  find_successors(snapshot);
  complete_ids(snapshot, memory);
  find_owners(snapshot);
  find_displaced(snapshot, memory);
  find_heard(snapshot);
  find_witnesses(snapshot);
  find_seen_elsewhere(snapshot, memory);
  snapshot.leader_vouches = hears_a_majority(snapshot);
  attribute_the_rest(snapshot);
  const bool leader_tells =
      snapshot.leader && snapshot.leader->status() && tells_ages(*snapshot.leader->status());
  for (ListedServer& listed : snapshot.servers)
    listed.life = judge_life(snapshot, listed, leader_tells);
  fill_times(snapshot, memory);
  count_quorum(snapshot);
  believe_the_others(snapshot);
  find_elsewhere(snapshot);
}

}  // namespace wardmote::judge::raft
