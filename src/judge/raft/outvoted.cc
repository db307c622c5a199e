#include "judge/raft/outvoted.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

/// Whether it hears a majority of its own list, which has others than itself.
bool leads_others(const Member& member, const ClusterSnapshot& snapshot) noexcept {
  if (!member.takes_part() || member.failed || !member.status()) return false;
  const Status& status = *member.status();
  if (status.role != Role::kLeader || status.servers.size() < 2) return false;
  // A leader that hears no majority ceases to be one by itself.
  if (!tells_ages(status)) return true;
  const auto heard = std::ranges::count_if(status.servers, [&](const Server& server) {
    return server.self || (server.last_message && snapshot.fresh(*server.last_message));
  });
  return 2 * static_cast<std::size_t>(heard) > status.servers.size();
}

bool lists_itself_alone(const Member& member) noexcept {
  if (!member.takes_part() || !member.status() || !member.id.known()) return false;
  const std::vector<Server>& list = member.status()->servers;
  return list.size() == 1 && list.front().self;
}

/// Whether it goes on with others, and without one that is in its list, as far as it shows that.
bool goes_on_without(const Member& member, const Member& alone, const ClusterSnapshot& snapshot) {
  const auto is_it = [&](const Server& server) { return compatible(server.id, alone.id); };
  if (&member == &alone || !serves(member, snapshot)) return false;
  if (!member.status()) return member.id.known() && !compatible(member.id, alone.id);
  const Server* const leader = member.hears_leader ? member.leader_line : nullptr;
  // Others may have the same four digits.
  if (leader && leader->address == alone.address && compatible(leader->id, alone.id)) return false;
  return std::ranges::any_of(member.status()->servers, is_it);
}

bool lists(const Member& member, const MemberId& id) noexcept {
  return member.status() &&
         std::ranges::any_of(member.status()->servers, [&](const Server& server) {
           return !server.self && compatible(server.id, id);
         });
}

/// Whether anybody is left of those who are known, answering or not, and whom it does not list.
bool has_others(const Member& alone, const ClusterSnapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.members, [&](const Member& member) {
    return &member != &alone && member.presence != Presence::kJoining && member.id.known() &&
           !lists(alone, member.id) && !member.is_foreign(snapshot.cluster_id);
  });
}

bool lists_any(const Member& member, const std::vector<MemberId>& ids) noexcept {
  return std::ranges::any_of(ids, [&](const MemberId& id) { return lists(member, id); });
}

/// Whether others went on without it before, and it has not come back to them: it lists none of
/// them. Who joins it meanwhile is as far away from them as it is, and they may lose their leader.
bool stays_outvoted(const Member& member, const ClusterSnapshot& snapshot) noexcept {
  const Identity* const before = member.identity;
  const bool known = member.takes_part() && member.status() && before && before->outvoted >= kSure;
  if (!known || !compatible(before->id, member.id) || !has_others(member, snapshot)) return false;
  return !lists_any(member, before->outvoted_by);
}

/// Whether it joined one that the others went on without, which may be down now.
bool joined_one_outvoted(const Member& member, const ClusterSnapshot& snapshot) noexcept {
  if (!member.takes_part() || !member.status()) return false;
  return std::ranges::any_of(snapshot.members, [&](const Member& other) {
    const Identity* const before = other.identity;
    const bool known = before && before->outvoted >= kSure && (other.outvoted || !other.status());
    return &other != &member && known && lists(member, other.id) &&
           !lists_any(member, before->outvoted_by) &&
           std::ranges::none_of(before->outvoted_by,
                                [&](const MemberId& id) { return compatible(id, member.id); });
  });
}

/// The servers that go on without it now.
std::vector<MemberId> find_those_without(const Member& member, const ClusterSnapshot& snapshot) {
  std::vector<MemberId> without;
  for (const Member& other : snapshot.members) {
    if (!goes_on_without(other, member, snapshot)) continue;
    without.push_back(other.id);
    if (!other.status()) continue;
    for (const Server& server : other.status()->servers) {
      if (!compatible(server.id, member.id)) without.push_back(server.id);
    }
  }
  return without;
}

}  // namespace

bool serves(const Member& member, const ClusterSnapshot& snapshot) noexcept {
  if (!member.takes_part() || member.failed) return false;
  if (member.status()) return member.hears_leader || leads_others(member, snapshot);
  return member.opinion->local && member.opinion->local->connected;
}

void find_outvoted(ClusterSnapshot& snapshot) {
  for (Member& member : snapshot.members) {
    if (lists_itself_alone(member) && member.claims_to_lead())
      member.outvoted_by = find_those_without(member, snapshot);
    member.outvoted_now = !member.outvoted_by.empty();
    member.outvoted = member.outvoted_now || stays_outvoted(member, snapshot);
  }
  for (Member& member : snapshot.members) member.outvoted |= joined_one_outvoted(member, snapshot);
}

bool is_left_behind(const Member& member, const ClusterSnapshot& snapshot, const Memory& memory) {
  const bool asks_it = member.takes_part() && member.status() && member.id.known();
  if (!asks_it || member.anchored() || !memory.is_list_settled()) return false;
  if (!memory.cluster_id().known() || snapshot.cluster_id != memory.cluster_id()) return false;
  std::uint64_t committed = 0;
  for (const RememberedServer& server : memory.list()) {
    if (compatible(server.id, member.id)) return false;
    committed = std::max(committed, memory.history().committed_by(server.id));
  }
  return member.status()->committed_index() < committed;
}

}  // namespace wardmote::judge::raft
