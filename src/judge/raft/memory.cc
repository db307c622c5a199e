#include "judge/raft/memory.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {
namespace {

/// The cluster that it belongs to, by its present or its last answer.
MemberId cluster_of(const Member& member) noexcept {
  const MemberId now = member.opinion->cluster_id();
  if (now.known() && !now.zero()) return now;
  return member.identity ? member.identity->cluster : MemberId{};
}

bool is_listed_at(const ClusterSnapshot& snapshot, std::string_view address) noexcept {
  return std::ranges::find(snapshot.servers, address, &ListedServer::address) !=
         snapshot.servers.end();
}

/// Whether another server answers where the member is asked than before.
bool is_another(const Identity& identity, const Member& member) noexcept {
  const MemberId answering = member.opinion->server_id();
  return answering.known() && !answering.zero() && identity.answers_as != answering;
}

int count_outvoted(const Member& member) noexcept {
  const int before = member.identity ? member.identity->outvoted : 0;
  if (member.outvoted_now) return std::min(before + 1, kSure);
  // Who does not answer is what it was.
  const bool goes_on = before >= kSure && (member.outvoted || !member.status());
  return goes_on ? before : 0;
}

bool was_leaving(const Member& member) noexcept {
  if (member.presence == Presence::kLeaving) return true;
  const bool is_back = member.presence == Presence::kMember && member.status();
  const bool is_new = member.presence == Presence::kJoining;
  return !is_back && !is_new && member.identity && member.identity->leaving;
}

Identity identify(const ClusterSnapshot& snapshot, const Member& member) {
  Identity next = member.identity ? *member.identity : Identity{.member = member.name()};
  // A member with another history, or none, is still remembered with its id in this one.
  if ((member.takes_part() || member.presence == Presence::kJoining) && member.id.known()) {
    if (!next.address.empty() && next.address != member.address)
      next.former_addresses.push_back(std::move(next.address));
    next.id = member.id;
    next.address = member.address;
  }
  std::erase_if(next.former_addresses, [&](const std::string& address) {
    return address == next.address || !is_listed_at(snapshot, address);
  });
  next.cluster = cluster_of(member);
  next.out_since = member.out_since;
  next.silent_from = member.silent_from;
  next.heard_since = member.heard_since;
  next.elsewhere = member.elsewhere;
  next.leaving = was_leaving(member);
  next.outvoted = count_outvoted(member);
  if (member.outvoted_now) next.outvoted_by = member.outvoted_by;
  if (next.outvoted == 0) next.outvoted_by.clear();
  if (is_another(next, member)) {
    next.answers_as = member.opinion->server_id();
    next.answers_since = snapshot.now;
  }
  return next;
}

bool unchanged(const Identity& identity, const Member& member) {
  return identity.member == member.name() && identity.id == member.id &&
         identity.address == member.address && identity.cluster == cluster_of(member) &&
         identity.out_since == member.out_since && identity.silent_from == member.silent_from &&
         identity.heard_since == member.heard_since && identity.elsewhere == member.elsewhere &&
         identity.outvoted == count_outvoted(member) &&
         (!member.outvoted_now || identity.outvoted_by == member.outvoted_by) &&
         identity.leaving == was_leaving(member) && !is_another(identity, member);
}

bool unchanged(const RememberedServer& remembered, const ListedServer& listed) {
  return remembered.id == listed.id && remembered.voter == listed.voter &&
         remembered.address == listed.address && !remembered.silent_since && !listed.silent_since &&
         remembered.alive_since == listed.alive_since && remembered.reached == listed.reached &&
         remembered.shares_address == listed.shares_address &&
         remembered.may_have_shared == listed.may_have_shared &&
         remembered.displaced == listed.displaced;
}

/// Whether nobody reports it alive, and nobody could confirm its silence: then the earlier
/// knowledge about it stays.
bool untold(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return !listed.shows_life() && !(snapshot.leader_vouches && listed.at_leader);
}

void keep_silence(RememberedServer& remembered, const std::vector<RememberedServer>& before) {
  for (const RememberedServer& old : before) {
    if (old.address != remembered.address || !compatible(old.id, remembered.id)) continue;
    remembered.silent_since = old.silent_since;
    remembered.silent_seen = old.silent_seen;
  }
}

}  // namespace

const Identity* Memory::identity(std::string_view member) const noexcept {
  const auto found = std::ranges::lower_bound(identities_, member, {}, &Identity::member);
  return found != identities_.end() && found->member == member ? &*found : nullptr;
}

void Memory::learn(const ClusterSnapshot& snapshot) {
  if (snapshot.cluster_id.known()) cluster_id_ = snapshot.cluster_id;
  if (snapshot.anybody_takes_part()) election_timer_ = snapshot.election_timer;
  learn_list(snapshot);
  if (snapshot.leader_vouches) list_read_ = snapshot.leader->opinion->begun;
  learn_identities(snapshot);
}

void Memory::forget(std::string_view member) {
  std::erase_if(identities_, [&](const Identity& known) { return known.member == member; });
  history_.forget(member);
}

void Memory::rename(std::string_view from, const std::string& to) {
  history_.rename(from, to);
  conditions_.rename(from, to);
  const auto known = std::ranges::find(identities_, from, &Identity::member);
  if (known == identities_.end()) return;
  known->member = to;
  std::ranges::sort(identities_, {}, &Identity::member);
}

void Memory::learn_identities(const ClusterSnapshot& snapshot) {
  const auto same = [](const Identity& i, const Member& m) { return unchanged(i, m); };
  if (std::ranges::equal(identities_, snapshot.members, same)) return;
  std::vector<Identity> next;
  next.reserve(snapshot.members.size());
  for (const Member& member : snapshot.members) next.push_back(identify(snapshot, member));
  identities_ = std::move(next);
}

void Memory::learn_list(const ClusterSnapshot& snapshot) {
  const auto same = [](const RememberedServer& l, const ListedServer& s) {
    return unchanged(l, s);
  };
  if (!snapshot.newest) return;
  // Other entries wait for their commit, too: only another list is in doubt.
  const auto is_it = [](const RememberedServer& l, const ListedServer& s) {
    return l.id == s.id && l.address == s.address;
  };
  const bool another = !std::ranges::equal(list_, snapshot.servers, is_it);
  if (judge::raft::is_list_settled(snapshot))
    list_settled_ = true;
  else if (another)
    list_settled_ = false;
  if (std::ranges::equal(list_, snapshot.servers, same)) return;
  std::vector<RememberedServer> next;
  next.reserve(snapshot.servers.size());
  for (const ListedServer& listed : snapshot.servers) {
    RememberedServer remembered{.id = listed.id,
                                .nickname = std::string(listed.nickname),
                                .address = std::string(listed.address),
                                .voter = listed.voter,
                                .listed_since = listed.listed_since,
                                .unlisted_at = listed.unlisted_at,
                                .silent_since = listed.silent_since,
                                .alive_since = listed.alive_since,
                                .reached = listed.reached,
                                .shares_address = listed.shares_address,
                                .may_have_shared = listed.may_have_shared,
                                .displaced = listed.displaced};
    if (remembered.silent_since) remembered.silent_seen = snapshot.shown;
    if (untold(snapshot, listed)) keep_silence(remembered, list_);
    next.push_back(std::move(remembered));
  }
  list_ = std::move(next);
}

}  // namespace wardmote::judge::raft
