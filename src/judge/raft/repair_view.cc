#include "judge/raft/repair_view.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {
namespace {

/// The member whose repair changes this server's place in the list. A member that was wiped and
/// joins at the same address leaves its former server id behind.
const Member* member_of(const ListedServer& listed) noexcept {
  if (listed.reporter != nullptr) return listed.reporter;
  if (listed.owner != nullptr) return listed.owner;
  const Member* const successor = listed.successor;
  const bool joins = successor != nullptr && successor->presence == Presence::kJoining;
  return joins ? successor : nullptr;
}

/// Whether its owner, which is silent, last answered as another server: then the host of the owner
/// can tell nothing of this one.
bool was_another(const ListedServer& listed) noexcept {
  return listed.owner && listed.owner->id.known() && !compatible(listed.owner->id, listed.id);
}

RepairServer repair_server(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  RepairServer server;
  server.id = listed.id;
  server.address = listed.address;
  server.names = names(listed);
  if (const Member* const member = member_of(listed)) server.member = member->name();
  server.guessed = listed.guessed || was_another(listed);
  server.answers = listed.reporter != nullptr;
  server.voter = listed.voter;
  server.acknowledges = acknowledges(snapshot, listed);
  server.shows_life = listed.shows_life();
  server.leads = listed.reporter != nullptr && listed.reporter == snapshot.leader;
  if (listed.at_leader != nullptr) server.match_index = listed.at_leader->match_index;
  server.objection = objection_to_kick(snapshot, listed);
  server.doubt = doubt_of_death(snapshot, listed);
  server.silent_since = listed.silent_since;
  const Sighting* const awaited = listed.awaited_elsewhere;
  if (awaited && !awaited->refused) server.awaited = awaited_elsewhere(listed);
  return server;
}

RepairMember repair_member(const Member& member, const MemberId& judged) {
  RepairMember seen{.name = member.name()};
  seen.answers = member.presence == Presence::kMember && !member.failed;
  seen.joining = member.presence == Presence::kJoining;
  // A member that was removed is out on purpose: it needs no repair.
  seen.out = seen.joining || member.presence == Presence::kHung ||
             (member.presence == Presence::kDown && !member.unreachable && !member.elsewhere);
  seen.hung = member.presence == Presence::kHung;
  seen.runs =
      seen.hung || (member.presence != Presence::kDown && member.presence != Presence::kUnknown);
  seen.out_since = member.out_since;
  seen.foreign = member.is_foreign(judged);
  seen.id = member.opinion->server_id();
  return seen;
}

void add_strangers(const ClusterSnapshot& snapshot, const Member& member,
                   std::vector<std::string>& strangers) {
  if (!member.status()) return;
  for (const Link& link : member.status()->links) {
    const auto is_it = [&](const ListedServer& listed) { return listed.nickname == link.peer; };
    if (!link.outgoing && std::ranges::none_of(snapshot.servers, is_it))
      strangers.push_back(link.peer);
  }
}

}  // namespace

const RepairServer* RepairView::find(const MemberId& id) const noexcept {
  const auto found = std::ranges::find_if(
      servers, [&](const RepairServer& server) { return compatible(server.id, id); });
  return found == servers.end() ? nullptr : &*found;
}

const RepairMember* RepairView::member(std::string_view name) const noexcept {
  const auto found = std::ranges::find(members, name, &RepairMember::name);
  return found == members.end() ? nullptr : &*found;
}

const RepairServer* RepairView::server_of(std::string_view member) const noexcept {
  const auto found = std::ranges::find(servers, member, &RepairServer::member);
  return found == servers.end() ? nullptr : &*found;
}

RepairView repair_view(std::span<const Opinion> opinions, const Expectation& expectation,
                       const Memory& memory, TimePoint now) {
  ClusterSnapshot snapshot = take_snapshot(opinions, expectation, memory, now);
  snapshot.history = &memory.history();
  RepairView view;
  view.begun = now;
  for (const Opinion& opinion : opinions) view.begun = std::min(view.begun, opinion.begun);
  if (snapshot.leader != nullptr && snapshot.leader->status() != nullptr) {
    view.leader = snapshot.leader->name();
    view.committed = snapshot.leader->status()->committed_index();
    view.commits = commits(snapshot);
  }
  view.cluster_id = snapshot.cluster_id;
  view.changing = snapshot.changing;
  view.reconfiguring = is_reconfiguring(snapshot);
  view.unsettled = snapshot.history->reconfigured();
  const auto leaders = snapshot.history->leader_changes();
  if (!leaders.empty()) view.unsettled = std::max(view.unsettled, std::optional(leaders.back().at));
  view.told_of = !expectation.addresses.empty();
  view.starved = snapshot.starved;
  if (const Track* const track = snapshot.history->rolled_back()) view.rolled_back = track->member;
  view.voters = snapshot.quorum.voters;
  view.needed = snapshot.quorum.needed;
  for (const ListedServer& listed : snapshot.servers) {
    view.servers.push_back(repair_server(snapshot, listed));
    view.acknowledging += view.servers.back().acknowledges ? 1 : 0;
  }
  for (const Member& member : snapshot.members) {
    view.members.push_back(repair_member(member, snapshot.cluster_id));
    add_strangers(snapshot, member, view.strangers);
  }
  return view;
}

}  // namespace wardmote::judge::raft
