#include "judge/raft/cluster_snapshot.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/outvoted.h"

namespace wardmote::judge::raft {
namespace {

bool is_joining(const Opinion& opinion) noexcept {
  if (opinion.status) return opinion.status->standing == Standing::kJoining;
  return opinion.local && opinion.mode == Mode::kClustered && !opinion.local->index;
}

bool is_gone(const Opinion& opinion) noexcept {
  if (opinion.status) return opinion.status->standing == Standing::kLeft;
  // If one socket knows no such database while the other serves it, the first leads to another
  // server.
  if (opinion.local) return false;
  return opinion.mode == Mode::kAbsent || opinion.knows_no_database();
}

bool is_other_mode(const Opinion& opinion) noexcept {
  if (opinion.status) return false;
  return opinion.mode == Mode::kStandalone || opinion.mode == Mode::kRelay ||
         opinion.status_source.reason.code == ReasonCode::kNotClustered ||
         opinion.local_source.reason.code == ReasonCode::kNotClustered;
}

/// What the silence of a member means, over both ways to ask. "Down" needs an answer of its host: a
/// refusal, or a missing socket file. A connection that fails otherwise may be our own fault.
Presence judge_silence(const Opinion& opinion, bool& unreachable) noexcept {
  bool hung = false;
  bool down = false;
  bool lost = false;
  for (const ReasonCode code :
       {opinion.status_source.reason.code, opinion.local_source.reason.code}) {
    switch (code) {
      case ReasonCode::kNotProbed: break;
      case ReasonCode::kHung: hung = true; break;
      case ReasonCode::kRefused:
      case ReasonCode::kMissing: down = true; break;
      case ReasonCode::kUnreachable: lost = true; break;
      default: return Presence::kUnknown;
    }
  }
  if (hung) return Presence::kHung;
  if (down) return Presence::kDown;
  unreachable = lost;
  return Presence::kUnknown;
}

Presence judge_presence(const Opinion& opinion, bool& unreachable) noexcept {
  if (is_gone(opinion)) return Presence::kGone;
  if (is_other_mode(opinion)) return Presence::kOtherMode;
  if (!opinion.speaks()) return judge_silence(opinion, unreachable);
  if (is_joining(opinion)) return Presence::kJoining;
  if (opinion.status && opinion.status->standing == Standing::kLeaving) return Presence::kLeaving;
  return Presence::kMember;
}

bool is_failed(const Opinion& opinion) noexcept {
  if (opinion.status) return opinion.status->standing == Standing::kFailed;
  return opinion.local && opinion.local->leader && !opinion.local->connected;
}

bool are_namesakes(const Server& a, const Server& b) noexcept {
  const bool named_alike = !a.nickname.empty() && same_text(a.nickname, b.nickname);
  return named_alike || compatible(a.id, b.id);
}

bool has_namesakes(const Status& status) noexcept {
  for (auto one = status.servers.begin(); one != status.servers.end(); ++one) {
    const auto is_one_of_them = [&](const Server& other) { return are_namesakes(*one, other); };
    if (std::any_of(status.servers.begin(), one, is_one_of_them)) return true;
  }
  return false;
}

std::vector<Connection> find_connections(const Status& status, bool namesakes) {
  std::vector<Connection> connections;
  connections.reserve(status.links.size());
  for (const Link& link : status.links) {
    const Server* const peer = find_named(status, link.peer);
    connections.push_back({.outgoing = link.outgoing,
                           .up = link.up,
                           .nameless = link.peer == kNobody,
                           .peer = peer,
                           .ambiguous = peer && namesakes && shares_its_name(status, *peer)});
  }
  return connections;
}

Member introduce(const Opinion& opinion, std::size_t index, const Memory& memory) {
  Member member;
  member.opinion = &opinion;
  member.index = index;
  member.identity = memory.identity(opinion.member);
  member.presence = judge_presence(opinion, member.unreachable);
  member.failed = member.takes_part() && is_failed(opinion);
  member.starved =
      !opinion.speaks() && (opinion.status_source.reason.code == ReasonCode::kProberStarved ||
                            opinion.local_source.reason.code == ReasonCode::kProberStarved);
  member.id = opinion.server_id();
  if (!member.id.known() && member.identity) member.id = member.identity->id;
  if (opinion.status) {
    member.address = opinion.status->address;
    member.lists_namesakes = has_namesakes(*opinion.status);
    member.connections = find_connections(*opinion.status, member.lists_namesakes);
  } else if (member.identity && compatible(member.id, member.identity->id)) {
    member.address = member.identity->address;
  }
  const bool silent = member.presence == Presence::kDown || member.presence == Presence::kHung ||
                      member.presence == Presence::kUnknown;
  if (silent) {
    const bool goes_on = member.identity && member.identity->silent_from;
    // A probe for which we lacked resources says nothing, and begins no silence.
    if (goes_on || !member.starved)
      member.silent_from = goes_on ? *member.identity->silent_from : opinion.ended;
  }
  const bool out = member.presence == Presence::kDown || member.presence == Presence::kHung ||
                   member.presence == Presence::kJoining;
  if (out) {
    const bool goes_on = member.identity && member.identity->out_since;
    member.out_since = goes_on ? *member.identity->out_since : opinion.ended;
  }
  return member;
}

/// The cluster to judge if members belong to several: the one with most members, else the previous
/// one, else the one with the longer history.
MemberId choose_cluster(const std::vector<Member>& members, const Memory& memory) {
  using Rank = std::tuple<std::size_t, bool, std::uint64_t>;
  MemberId chosen;
  Rank best{};
  for (const Member& candidate : members) {
    const MemberId id = candidate.opinion->cluster_id();
    if (!candidate.takes_part() || !id.known() || id.zero() || id == chosen) continue;
    Rank rank{0, id == memory.cluster_id(), 0};
    for (const Member& member : members) {
      if (!member.takes_part() || !compatible(member.opinion->cluster_id(), id)) continue;
      ++std::get<0>(rank);
      const std::uint64_t committed = member.status() ? member.status()->committed_index() : 0;
      std::get<2>(rank) = std::max(std::get<2>(rank), committed);
    }
    if (!chosen.known() || rank > best || (rank == best && id < chosen)) {
      chosen = id;
      best = rank;
    }
  }
  return chosen.known() ? chosen : memory.cluster_id();
}

/// The leader that a follower names. Of several with the same four digits it is the one that it
/// heard last; itself it would call `self`.
const Server* find_named_leader(const Status& status) noexcept {
  const Server* leader = find_named(status, status.leader.name);
  if (!leader || !shares_its_name(status, *leader)) return leader;
  const std::string& nickname = leader->nickname;
  const auto heard_later = [](const Server& a, const Server& b) {
    return !b.last_message || (a.last_message && *a.last_message < *b.last_message);
  };
  for (const Server& server : status.servers) {
    if (server.self || server.nickname != nickname) continue;
    if (leader->self || heard_later(server, *leader)) leader = &server;
  }
  return leader;
}

void find_leader(Member& member, const ClusterSnapshot& snapshot) noexcept {
  const Status& status = *member.status();
  if (status.leader.kind != PeerName::Kind::kNamed || status.role == Role::kLeader) return;
  member.leader_line = find_named_leader(status);
  if (!member.leader_line || member.leader_line->self) return;
  const std::optional<Milliseconds>& age = member.leader_line->last_message;
  member.hears_leader = age ? snapshot.fresh(*age) : !tells_ages(status);
}

/// Newer lists compare greater. A term counts only with a leader behind it: a candidate that is cut
/// off or was removed raises its term for ever on its old list (OVS <= 3.2). Without a leader, the
/// longer log is newer.
auto newness(const Member& member) noexcept {
  const Status& status = *member.status();
  const bool anchored = member.anchored();
  const std::uint64_t term = anchored ? status.term : 0;
  return std::tuple(!member.failed, anchored, term, status.role == Role::kLeader,
                    status.committed_index(), status.term, member.id);
}

const Member* choose_newest(const std::vector<Member>& members) noexcept {
  const Member* newest = nullptr;
  for (const Member& member : members) {
    if (!member.takes_part() || !member.status() || member.outvoted || member.left_behind) continue;
    if (member.status()->servers.empty()) continue;
    if (!newest || newness(member) > newness(*newest)) newest = &member;
  }
  return newest;
}

const Member* choose_leader(const ClusterSnapshot& snapshot) noexcept {
  const Member* leader = nullptr;
  const auto term = [](const Member& m) { return m.status() ? m.status()->term : 0; };
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || member.failed || !member.claims_to_lead()) continue;
    if (member.outvoted) continue;
    if (!leader || std::tuple(term(member), member.id) > std::tuple(term(*leader), leader->id))
      leader = &member;
  }
  const bool outdated =
      leader && snapshot.anchored() && leader->status() && term(*leader) < snapshot.term();
  return outdated ? nullptr : leader;
}

bool follows_in_name(const Member& member, const Member* leader) noexcept {
  if (!leader || member.presence != Presence::kMember || !member.status()) return false;
  const Status& status = *member.status();
  const bool stranger = status.role == Role::kFollower && member.leader_line == nullptr &&
                        status.leader.kind == PeerName::Kind::kNamed && !status.servers.empty();
  const std::optional<MemberId> named = parse_member_id(status.leader.name);
  return stranger && named && compatible(*named, leader->id);
}

bool is_changing(const ClusterSnapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.members, [](const Member& member) {
    // A server that asks to join changes nothing until the leader adds it, which the list shows.
    if (member.presence == Presence::kLeaving) return true;
    if (!member.takes_part() || !member.status()) return false;
    return !member.status()->changes.empty() ||
           std::ranges::any_of(member.status()->servers,
                               [](const Server& s) { return s.phase != Phase::kNone; });
  });
}

/// Whether it has applied entries that the owner of the list has not: then that list is old, for
/// example that of a member whose full disk takes no writes while it hears the leader.
bool is_ahead(const Member& member, const Status& list) noexcept {
  const std::optional<Local>& local = member.opinion->local;
  std::uint64_t applied = local ? local->index.value_or(0) : 0;
  if (member.status()) applied = member.status()->applied_index();
  return applied > list.committed_index();
}

Milliseconds largest_timer(const ClusterSnapshot& snapshot, const Memory& memory) noexcept {
  constexpr Milliseconds kShortest{100};  // raft.c: ELECTION_MIN_MSEC and ELECTION_MAX_MSEC
  constexpr Milliseconds kLongest{600'000};
  Milliseconds largest{0};
  for (const Member& member : snapshot.members) {
    if (member.takes_part() && member.status())
      largest = std::max(largest, member.status()->election_timer);
  }
  if (largest.count() == 0) return memory.election_timer().value_or(Milliseconds(1000));
  return std::clamp(largest, kShortest, kLongest);
}

TimePoint latest_begun(const ClusterSnapshot& snapshot) noexcept {
  TimePoint latest{};
  for (const Member& member : snapshot.members) latest = std::max(latest, member.opinion->begun);
  return latest;
}

}  // namespace

bool is_refusal(const Opinion& opinion) noexcept {
  bool unreachable = false;
  return judge_presence(opinion, unreachable) == Presence::kDown;
}

bool Member::claims_to_lead() const noexcept {
  if (opinion->status) return opinion->status->role == Role::kLeader;
  return opinion->local && opinion->local->leader;
}

bool Member::is_foreign(const MemberId& judged) const noexcept {
  if (presence == Presence::kForeign) return true;
  if (takes_part() || presence == Presence::kJoining || !identity) return false;
  return identity->cluster.known() && judged.known() && !compatible(identity->cluster, judged);
}

bool Member::unplaced() const noexcept {
  const bool speaks = takes_part() || presence == Presence::kJoining ||
                      presence == Presence::kForeign || presence == Presence::kGone;
  return !speaks && listed == nullptr && !id.known();
}

bool Member::lacks_database(const ClusterSnapshot& snapshot) const noexcept {
  if (presence != Presence::kGone || status()) return false;
  const bool was_member = identity && identity->id.known();
  const auto is_it = [&](const ListedServer& each) { return compatible(each.id, identity->id); };
  // Without a leader behind it the newest list may be old.
  return !was_member || !snapshot.anchored() || std::ranges::any_of(snapshot.servers, is_it);
}

bool ClusterSnapshot::anybody_takes_part() const noexcept {
  return std::ranges::any_of(members, [](const Member& member) { return member.takes_part(); });
}

const Server* find_named(const Status& status, std::string_view name) noexcept {
  for (const Server& server : status.servers) {
    if (same_text(server.nickname, name)) return &server;
  }
  const std::optional<MemberId> id = parse_member_id(name);
  if (!id) return nullptr;
  for (const Server& server : status.servers) {
    if (compatible(server.id, *id)) return &server;
  }
  return nullptr;
}

bool shares_its_name(const Status& status, const Server& server) noexcept {
  return std::ranges::any_of(status.servers, [&](const Server& other) {
    return &other != &server && are_namesakes(server, other);
  });
}

bool is_ambiguous(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& other) {
    return &other != &listed && compatible(other.id, listed.id);
  });
}

bool shows_life(const ClusterSnapshot& snapshot, const Connection& connection,
                const ListedServer& listed) noexcept {
  const Server* const peer = connection.peer;
  const bool shows_peer = connection.up && peer && !peer->self && !connection.ambiguous;
  if (!shows_peer || !compatible(peer->id, listed.id)) return false;
  if (!connection.outgoing) return true;
  const auto shares = [&](const ListedServer& other) {
    return &other != &listed && same_text(other.address, listed.address);
  };
  return !listed.successor && std::ranges::none_of(snapshot.servers, shares);
}

bool answers_as_two(const Member& member) noexcept {
  const Opinion& opinion = *member.opinion;
  if (!opinion.status || !opinion.local) return false;
  const MemberId& a = opinion.status->server_id;
  const MemberId& b = opinion.local->server_id;
  return a.known() && b.known() && !b.zero() && !compatible(a, b);
}

bool answer_as_one(const Member& a, const Member& b) noexcept {
  const MemberId id = a.opinion->server_id();
  return id.full() && !id.zero() && id == b.opinion->server_id();
}

bool is_voter(Phase phase) noexcept {
  return phase != Phase::kAddingCatchup && phase != Phase::kAddingCaughtUp &&
         phase != Phase::kAddingCommitting;
}

bool tells_ages(const Status& status) noexcept {
  return std::ranges::any_of(status.servers,
                             [](const Server& s) { return s.last_message.has_value(); });
}

bool same_server(const MemberId& a, std::string_view a_address, const MemberId& b,
                 std::string_view b_address, bool lenient) noexcept {
  if (!a.known() || !b.known()) return !a_address.empty() && same_text(a_address, b_address);
  if (!compatible(a, b)) return false;
  if ((a.full() && b.full()) || lenient) return true;
  return a_address.empty() || b_address.empty() || same_text(a_address, b_address);
}

ClusterSnapshot take_snapshot(std::span<const Opinion> opinions, const Expectation& expectation,
                              const Memory& memory, TimePoint now) {
  ClusterSnapshot snapshot;
  snapshot.now = now;
  if (!opinions.empty()) snapshot.dialect = opinions.front().dialect;
  snapshot.expectation = &expectation;
  snapshot.list_in_doubt = !memory.is_list_settled();
  snapshot.members.reserve(opinions.size());
  for (std::size_t i = 0; i < opinions.size(); ++i)
    snapshot.members.push_back(introduce(opinions[i], i, memory));
  std::ranges::sort(snapshot.members, {},
                    [](const Member& m) -> const std::string& { return m.name(); });

  snapshot.cluster_id = choose_cluster(snapshot.members, memory);
  for (Member& member : snapshot.members) {
    const MemberId id = member.opinion->cluster_id();
    const bool elsewhere = id.known() && !id.zero() && snapshot.cluster_id.known() &&
                           !compatible(id, snapshot.cluster_id);
    if (member.takes_part() && elsewhere) member.presence = Presence::kForeign;
    snapshot.starved |= member.starved;
  }
  snapshot.shown = latest_begun(snapshot);
  snapshot.election_timer = largest_timer(snapshot, memory);
  for (Member& member : snapshot.members) {
    if (member.takes_part() && member.status()) find_leader(member, snapshot);
  }
  find_outvoted(snapshot);
  for (Member& member : snapshot.members)
    member.left_behind = is_left_behind(member, snapshot, memory);
  snapshot.newest = choose_newest(snapshot.members);
  snapshot.leader = choose_leader(snapshot);
  for (Member& member : snapshot.members)
    member.follows_in_name = follows_in_name(member, snapshot.leader);
  snapshot.changing = is_changing(snapshot);
  fill_servers(snapshot, memory);
  for (Member& member : snapshot.members) {
    member.zombie = snapshot.anchored() && member.takes_part() &&
                    member.presence != Presence::kLeaving && !member.listed && member.id.known() &&
                    &member != snapshot.newest && !serves(member, snapshot) &&
                    !is_ahead(member, *snapshot.newest->status());
    member.comparable = member.takes_part() && member.status() && !member.failed && !member.zombie;
  }
  find_reached(snapshot, memory);
  return snapshot;
}

}  // namespace wardmote::judge::raft
