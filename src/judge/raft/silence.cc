#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.h"
#include "base/time.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/own_link.h"
#include "judge/raft/removal.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {
namespace {

const RememberedServer* remembered(const Memory& memory, const ListedServer& listed) noexcept {
  for (const RememberedServer& remembered : memory.list()) {
    if (compatible(remembered.id, listed.id) && remembered.address == listed.address)
      return &remembered;
  }
  return nullptr;
}

/// When anybody last heard it, or was answered by it.
std::optional<TimePoint> last_heard(const ClusterSnapshot& snapshot,
                                    const ListedServer& listed) noexcept {
  const std::optional<TimePoint> heard = heard_by_members(snapshot, listed);
  if (listed.seen_elsewhere == nullptr) return heard;
  return std::max(heard.value_or(listed.seen_elsewhere->at), listed.seen_elsewhere->at);
}

/// When it certainly was alive last. A connection whose end is dead is closed after two probes, one
/// each round (raft.c).
std::optional<TimePoint> last_alive(const ClusterSnapshot& snapshot,
                                    const ListedServer& listed) noexcept {
  if (listed.reporter) return listed.reporter->opinion->begun;
  std::optional<TimePoint> heard = heard_by_members(snapshot, listed);
  if (listed.seen_elsewhere) heard = std::max(heard, listed.seen_elsewhere->alive(snapshot.shown));
  if (!listed.linked) return heard;
  const TimePoint probed = snapshot.shown - 2 * snapshot.round();
  return std::max(heard.value_or(probed), probed);
}

/// Whether it was alive after the member had begun to answer at its address as another server,
/// listed or not.
bool outlives_successor(const ListedServer& listed, TimePoint alive) noexcept {
  const Member* const successor = listed.successor;
  const Identity* const known = successor ? successor->identity : nullptr;
  return known && known->answers_as == successor->opinion->server_id() &&
         alive > known->answers_since;
}

/// Two servers that say one address, of which the older was alive after the younger had begun to
/// be: one of them is not where it says.
void find_shared_addresses(ClusterSnapshot& snapshot) noexcept {
  for (ListedServer& older : snapshot.servers) {
    const std::optional<TimePoint> alive = last_alive(snapshot, older);
    if (!alive || older.address.empty()) continue;
    older.shares_address |= outlives_successor(older, *alive);
    if (!older.alive_since) continue;
    for (ListedServer& younger : snapshot.servers) {
      const bool beside = &younger != &older && same_text(younger.address, older.address) &&
                          younger.alive_since >= older.alive_since;
      if (beside && *alive > *younger.alive_since)
        older.shares_address = younger.shares_address = true;
    }
  }
}

/// Of servers that say one address, only one that was seen silent before the next one was listed
/// certainly ended before that.
void find_unordered(ClusterSnapshot& snapshot) noexcept {
  for (ListedServer& older : snapshot.servers) {
    const std::optional<TimePoint> alive = last_alive(snapshot, older);
    for (const ListedServer& younger : snapshot.servers) {
      const bool pair = &younger != &older && same_text(younger.address, older.address);
      if (!pair || (older.unlisted_at && !(younger.unlisted_at > older.unlisted_at))) continue;
      older.may_have_shared |= !younger.unlisted_at || alive > *younger.unlisted_at;
    }
  }
}

/// Whether the agent has probed often enough since `before` to say that the silence lasted.
bool watched(const ClusterSnapshot& snapshot, const RememberedServer& before) noexcept {
  return snapshot.shown - before.silent_seen <= snapshot.expectation->gone_after / 2;
}

void find_silence(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    const RememberedServer* const before = remembered(memory, listed);
    if (before) {
      listed.listed_since = before->listed_since;
      listed.unlisted_at = before->unlisted_at;
      listed.may_have_shared = before->may_have_shared;
      listed.alive_since = before->alive_since;
      listed.shares_address |= before->shares_address;
    } else if (!memory.list().empty()) {
      listed.listed_since = snapshot.shown;
      listed.unlisted_at = memory.list_read();
    }
    if (!listed.alive_since) listed.alive_since = last_alive(snapshot, listed);
    if (listed.shows_life() || !snapshot.leader_vouches || !listed.at_leader) continue;
    // Who waits for its answer may say so no more because he begins anew: it counts from then on.
    // Who is refused hears from its host that it is silent.
    TimePoint since = snapshot.shown;
    const bool goes_on = before && before->silent_since && watched(snapshot, *before);
    const Sighting* const awaited = listed.awaited_elsewhere;
    if (goes_on && (!awaited || awaited->refused)) since = *before->silent_since;
    listed.silent_since = std::max(since, last_heard(snapshot, listed).value_or(since));
  }
}

/// Whether the leader's log has grown for two rounds without an acknowledgement of it.
bool stands_still(const ClusterSnapshot& snapshot, const History& history,
                  const ListedServer& listed) noexcept {
  const Member* const leader = snapshot.leader;
  const bool follows = leader && leader->status() && listed.at_leader && listed.reporter != leader;
  if (!follows || !listed.at_leader->match_index) return false;
  const std::uint64_t has = *listed.at_leader->match_index;
  const std::optional<TimePoint> passed = history.passed(has);
  const Follower* const follower = history.of(listed);
  if (!passed || !follower || leader->opinion->begun - *passed < 2 * snapshot.round()) return false;
  return follower->older.index == has &&
         leader->opinion->begun - follower->older.at >= snapshot.round();
}

bool was_alive_after(const ClusterSnapshot& snapshot, const ListedServer& listed,
                     TimePoint then) noexcept {
  const std::optional<TimePoint> alive = last_alive(snapshot, listed);
  return alive && *alive > then;
}

/// Nobody listens where this agent has never been answered. A server that lives, and whose place
/// nobody knows, may be the one that should be there.
void find_strangers_of(ClusterSnapshot& snapshot, Member& member) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    const bool may_be_its = !listed.owner || listed.owner == &member;
    const bool placed = listed.reporter || !may_be_its || listed.successor;
    if (placed || !was_alive_after(snapshot, listed, *member.silent_from)) continue;
    member.elsewhere = listed.displaced = true;
  }
}

}  // namespace

std::optional<TimePoint> heard_by_members(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) noexcept {
  std::optional<TimePoint> latest;
  for (const Member& member : snapshot.members) {
    if (!member.status()) continue;
    for (const Server& line : member.status()->servers) {
      if (line.self || !line.last_message || !compatible(line.id, listed.id)) continue;
      const TimePoint at = member.opinion->begun - *line.last_message;
      latest = std::max(latest.value_or(at), at);
    }
  }
  return latest;
}

void fill_times(ClusterSnapshot& snapshot, const Memory& memory) {
  find_silence(snapshot, memory);
  find_shared_addresses(snapshot);
  find_unordered(snapshot);
  for (ListedServer& listed : snapshot.servers) {
    const bool apart = listed.reporter != nullptr &&
                       (listed.reporter->follows_in_name || listed.reporter->outvoted);
    listed.stalled =
        listed.life == Life::kLive && (apart || stands_still(snapshot, memory.history(), listed));
  }
}

void find_elsewhere(ClusterSnapshot& snapshot) noexcept {
  for (Member& member : snapshot.members) {
    const Identity* const known = member.identity;
    if (!known || member.opinion->server_id().known()) continue;
    member.elsewhere = known->elsewhere || (member.listed && member.listed->is_loose());
    if (member.unreachable || !member.silent_from) continue;
    if (!known->id.known() && is_refusal(*member.opinion)) {
      find_strangers_of(snapshot, member);
    } else if (member.heard && member.listed) {
      member.elsewhere |= compatible(known->id, member.listed->id) &&
                          was_alive_after(snapshot, *member.listed, *member.silent_from);
    }
  }
}

void find_reached(ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  for (ListedServer& listed : snapshot.servers) {
    const LinkState reach = reach_of(snapshot, listed);
    if (is_broken(reach)) continue;
    const RememberedServer* const before = remembered(memory, listed);
    if (before) listed.reached = before->reached;
    if (reach != LinkState::kUp) continue;
    if (!listed.reached) {
      listed.reached = Reached{.since = snapshot.shown, .last = snapshot.shown};
    } else if (listed.reached->looks < Reached::kLooks) {
      Reached& reached = *listed.reached;
      reached.widest = std::max(reached.widest, snapshot.shown - reached.last);
      reached.last = snapshot.shown;
      ++reached.looks;
    }
  }
}

}  // namespace wardmote::judge::raft
