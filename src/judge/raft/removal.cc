#include "judge/raft/removal.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/raft/address.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/outvoted.h"
#include "judge/raft/own_link.h"
#include "judge/raft/quote.h"
#include "judge/raft/sighting.h"

namespace wardmote::judge::raft {

using namespace std::chrono_literals;

/// Somebody else looks at a server and gets no answer: its process may hang.
std::optional<std::string> awaited_elsewhere(const ListedServer& listed) {
  const Sighting* const awaited = listed.awaited_elsewhere;
  if (awaited == nullptr) return std::nullopt;
  if (awaited->server.known())
    return fmt::format("it answered {}, and does not answer there now", awaited->by);
  return fmt::format("it may be the server of {}, which has not said who it is", awaited->by);
}

namespace {

using Objection = std::optional<std::string>;

std::size_t acknowledging(const ClusterSnapshot& snapshot) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      snapshot.servers,
      [&](const ListedServer& listed) { return acknowledges(snapshot, listed); }));
}

/// Whether the member has heard the server of this line of its list lately.
bool heard_of_late(const ClusterSnapshot& snapshot, const Member& member,
                   const Server& line) noexcept {
  if (line.self || !line.last_message) return false;
  return &member == snapshot.leader ? snapshot.fresh(*line.last_message)
                                    : snapshot.fresh_at_follower(*line.last_message);
}

/// The members that hear it. Every one counts: a follower, a member that is cut off, one with an
/// old list.
Objection sign_of_life(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (listed.answers_elsewhere()) return fmt::format("it answers {}", listed.seen_elsewhere->by);
  for (const Member& member : snapshot.members) {
    if (compatible(member.opinion->server_id(), listed.id))
      return fmt::format("{} answers as it", member.name());
    if (!member.status()) continue;
    for (const Server& line : member.status()->servers) {
      if (compatible(line.id, listed.id) && heard_of_late(snapshot, member, line)) {
        return fmt::format("{} heard it {} ms ago", member.name(), line.last_message->count());
      }
    }
    for (const Connection& connection : member.connections) {
      if (shows_life(snapshot, connection, listed))
        return fmt::format("{} has a connection {} it", member.name(),
                           connection.outgoing ? "to" : "from");
    }
  }
  return std::nullopt;
}

/// What forbids any change of the list.
Objection cannot_change(const ClusterSnapshot& snapshot, const std::string& id) {
  const std::string_view removal = snapshot.dialect->removal;
  if (snapshot.quorum.voters > 0 && snapshot.possible() < snapshot.quorum.needed) {
    return fmt::format(
        "Quorum is lost: a {} needs a commit and cannot work. Bring members back first.", removal);
  }
  if (!snapshot.leader || !snapshot.leader->status()) {
    return fmt::format("No leader answers, and a {} of {} needs one: wait until one does.", removal,
                       id);
  }
  if (!commits(snapshot)) {
    return fmt::format(
        "The leader has entries that it does not commit: a {} of {} is a write as well. Bring "
        "members back first.",
        removal, id);
  }
  if (snapshot.changing) {
    return fmt::format(
        "A server is being added or removed: wait until that has ended before {} {}.",
        snapshot.dialect->removing, id);
  }
  return std::nullopt;
}

/// Whether this member certainly is another server: it answers as one.
bool is_another(const Member& member, const ListedServer& listed) noexcept {
  const MemberId id = member.opinion->server_id();
  const bool left = member.presence == Presence::kGone && member.status() != nullptr;
  return (member.takes_part() || left) && id.known() && !compatible(id, listed.id);
}

/// The member was wiped and joins at this address now, so it is no longer the server `listed`.
bool joins_in_its_place(const Member& member, const ListedServer& listed) noexcept {
  return member.presence == Presence::kJoining && listed.successor == &member &&
         !compatible(member.id, listed.id);
}

bool may_be(const Member& member, const ListedServer& listed) noexcept {
  return !is_another(member, listed) && !joins_in_its_place(member, listed);
}

/// Whether it is known as which server it is listed, and not by elimination alone.
bool is_placed(const Member& member) noexcept {
  return member.listed != nullptr && !member.listed->guessed;
}

/// Whether a server lives there, so that no other has this place, whatever that calls it.
bool is_taken(const ClusterSnapshot& snapshot, const std::string& hint) noexcept {
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& listed) {
    return listed.shows_life() && !listed.is_loose() && means(hint, listed.address);
  });
}

/// Whether the server that is listed there is known to be that of a configured member, which
/// answers as it or did.
bool is_ones_place(const ClusterSnapshot& snapshot, const std::string& hint) noexcept {
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& listed) {
    const bool is_a_members = listed.reporter || (listed.owner && !listed.guessed);
    return is_a_members && means(hint, listed.address);
  });
}

/// The member or expected address whose place the server has.
Objection only_heir(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  for (const std::string& hint : snapshot.expectation->addresses) {
    if (means(hint, listed.address))
      return fmt::format("{} is an expected address, and no other member answers there",
                         listed.address);
    // A place has several names, and a ghost may be listed with one of them.
    if (!is_taken(snapshot, hint))
      return fmt::format(
          "{} is expected, nobody lives there as far as the list shows, and it may be another name "
          "of {}: have its server join or come back first, or write the address as the list does",
          hint, listed.address);
  }
  // Which addresses a cluster has, the operator knows better than the past of its members.
  const bool told = !snapshot.expectation->addresses.empty();
  for (const Member& member : snapshot.members) {
    if (joins_in_its_place(member, listed)) continue;
    const bool now = means(member.address, listed.address);
    const bool before = !told && member.identity && means(member.identity->address, listed.address);
    if (!listed.address.empty() && (now || before)) {
      return fmt::format("{} is the address of {}, and no other member answers there",
                         listed.address, member.name());
    }
    if (told) continue;
    if (member.identity && std::ranges::find(member.identity->former_addresses, listed.address) !=
                               member.identity->former_addresses.end()) {
      return fmt::format("{} was the address of {}, and no other member answers there",
                         listed.address, member.name());
    }
  }
  return std::nullopt;
}

/// The configured member that it may be.
Objection may_be_configured(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (listed.owner && !listed.guessed) {
    return fmt::format("it is {}, a configured member that does not answer now",
                       listed.owner->name());
  }
  for (const Member& member : snapshot.members) {
    if (!may_be(member, listed)) continue;
    return fmt::format("it may be {}, a configured member that does not answer as any other server",
                       member.name());
  }
  return std::nullopt;
}

/// Whether only connections show who lives, and they name another server alike.
bool is_hidden_by_its_name(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  const Status* const status = snapshot.newest ? snapshot.newest->status() : nullptr;
  return status && listed.line && shares_its_name(*status, *listed.line) &&
         std::ranges::none_of(snapshot.members, [](const Member& member) {
           return member.status() && tells_ages(*member.status());
         });
}

/// The live servers that may hear it and do not say whether they do.
Objection may_be_heard(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (is_hidden_by_its_name(snapshot, listed))
    return "the connections of another server, whose id begins alike, look like its own";
  for (const ListedServer& other : snapshot.servers) {
    const bool says = other.reporter && other.reporter->status();
    if (&other == &listed || !other.voter || says || other.life == Life::kSilent) continue;
    return fmt::format("{} at {} may hear it, and does not say: {}",
                       other.reporter ? label(*other.reporter) : label(other), other.address,
                       snapshot.dialect->to_hear_more);
  }
  return std::nullopt;
}

Objection silent_too_short(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  const Duration needed =
      std::max<Duration>(snapshot.expectation->gone_after, 10 * snapshot.round());
  const Duration silent =
      listed.silent_since ? snapshot.now - *listed.silent_since : Duration::zero();
  if (listed.silent_since && silent >= needed) return std::nullopt;
  return fmt::format("its last message or connection is {} old: it may come back until that is {}",
                     format_duration(silent), format_duration(needed));
}

/// Why it may come back, or be a server that we know.
Objection not_gone(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (auto reason = may_be_configured(snapshot, listed)) return reason;
  if (auto reason = awaited_elsewhere(listed)) return reason;
  if (auto reason = only_heir(snapshot, listed)) return reason;
  return silent_too_short(snapshot, listed);
}

/// Why it may live although another is at its address.
Objection not_replaced(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (auto reason = may_be_displaced(snapshot, listed)) return reason;
  if (auto reason = awaited_elsewhere(listed)) return reason;
  return may_still_live(snapshot, listed);
}

/// Members of which nobody can say which server they are: two that answer as one, or one whose two
/// sockets answer as two. A line of the configuration was copied, or a database was.
Objection confusion(const ClusterSnapshot& snapshot) {
  if (const Track* const track = snapshot.history->rolled_back()) {
    return fmt::format(
        "the log of {} went back behind what it had committed, and the list may be an old one, too",
        track->member);
  }
  for (auto a = snapshot.members.begin(); a != snapshot.members.end(); ++a) {
    if (answers_as_two(*a)) {
      return fmt::format("the two sockets of {} answer as two servers: correct them first",
                         a->name());
    }
    const auto b = std::ranges::find_if(a + 1, snapshot.members.end(), [&](const Member& other) {
      return answer_as_one(*a, other);
    });
    if (b != snapshot.members.end()) {
      return fmt::format("{} and {} answer as one server: find out why first", a->name(),
                         b->name());
    }
  }
  return std::nullopt;
}

Objection quorum_at_risk(const ClusterSnapshot& snapshot, const ListedServer& listed,
                         const std::string& id) {
  const std::size_t rest = snapshot.quorum.voters - (listed.voter ? 1 : 0);
  const std::size_t needed = std::max(rest / 2 + 1, snapshot.quorum.needed);
  const std::size_t able = std::min(acknowledging(snapshot), snapshot.quorum.live);
  if (able >= needed) return std::nullopt;
  return fmt::format(
      "A {} of {} is not safe: {} of {} voters acknowledge the leader, {} are needed. Bring "
      "members back first.",
      snapshot.dialect->removal, id, able, snapshot.quorum.voters, needed);
}

}  // namespace

bool commits(const ClusterSnapshot& snapshot) noexcept {
  const Status& status = *snapshot.leader->status();
  if (status.uncommitted == 0) return true;
  const History& history = *snapshot.history;
  const std::uint64_t committed = status.committed_index();
  const TimePoint now = snapshot.leader->opinion->begun;
  const std::optional<TimePoint> waiting_since = history.passed(committed);
  const std::optional<TimePoint> done_until = history.within(committed);
  return waiting_since && now - *waiting_since < snapshot.round() && done_until &&
         now - *done_until < 10 * snapshot.round();
}

bool is_reconfiguring(const ClusterSnapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.members, [](const Member& member) {
    if (!member.takes_part()) return false;
    if (member.presence == Presence::kLeaving) return true;
    return member.status() != nullptr &&
           (!member.status()->changes.empty() ||
            std::ranges::any_of(member.status()->servers,
                                [](const Server& server) { return server.phase != Phase::kNone; }));
  });
}

/// No leader is elected without a majority that has its term, and goes on with it.
bool is_contested(const ClusterSnapshot& snapshot) noexcept {
  const Member& newest = *snapshot.newest;
  if (!newest.claims_to_lead()) return false;
  bool others_lead = false;
  for (const Member& member : snapshot.members) {
    if (&member == &newest || !member.status() || !serves(member, snapshot)) continue;
    const Server* const leader = member.hears_leader ? member.leader_line : nullptr;
    if (leader && leader->address == newest.address && compatible(leader->id, newest.id))
      return false;
    others_lead = others_lead || !member.outvoted;
  }
  return others_lead;
}

bool is_list_settled(const ClusterSnapshot& snapshot) noexcept {
  if (snapshot.newest == nullptr || is_reconfiguring(snapshot)) return false;
  if (is_contested(snapshot)) return false;
  if (snapshot.leader != nullptr && snapshot.leader->status() != nullptr) return commits(snapshot);
  return snapshot.newest->status()->uncommitted == 0;
}

bool acknowledges(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  return listed.voter && listed.life == Life::kLive && !listed.stalled &&
         (listed.heard || listed.reporter == snapshot.leader);
}

LinkState reach_of(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  if (!listed.reporter || !listed.reporter->status()) return LinkState::kUnknown;
  const auto come_in = std::ranges::count_if(
      listed.reporter->connections,
      [](const Connection& connection) { return connection.up && !connection.outgoing; });
  const auto others = std::ranges::count_if(snapshot.servers, [&](const ListedServer& other) {
    return !same_text(other.address, listed.address) && other.life == Life::kLive;
  });
  if (come_in < others) return LinkState::kMissing;
  LinkState reach = LinkState::kUnknown;
  for (const Member& member : snapshot.members) {
    if (!member.comparable || !member.listed || same_text(member.listed->address, listed.address))
      continue;
    const LinkState own = own_link(snapshot, member, listed);
    if (is_broken(own) || has_broken_link(member, listed)) return LinkState::kDown;
    if (own == LinkState::kUp) reach = own;
  }
  return reach;
}

namespace {

/// Whether it is at the address that it lists: it was reached there for longer than a connection
/// lasts behind which nobody answers, and no other server of that address was alive beside it. One
/// that joined with the address of another process listens nowhere, and has its own connections all
/// the same.
///
/// The kernel accepts connections for a process that hangs. They are closed after two probes, of an
/// election timer and a second each, and made again after 1, 2, 4, and then always 8 seconds
/// (raft.c, reconnect.c). Looks that come no less often meet the gap; others are likely to.
bool is_there(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept {
  if (listed.is_loose() || reach_of(snapshot, listed) != LinkState::kUp) return false;
  const Reached& reached = *listed.reached;
  Duration gap = 1s;
  Duration settled = 2 * snapshot.round() + gap;
  while (gap <= reached.widest && gap < 8s) {
    gap *= 2;
    settled += 2 * snapshot.round() + gap;
  }
  const int looks = gap > reached.widest ? Reached::kLooks / 2 : Reached::kLooks;
  return reached.looks >= looks &&
         snapshot.shown - reached.since >= std::max<Duration>(settled, 12s);
}

}  // namespace

bool is_full_member(const ListedServer& listed) noexcept {
  const Member* const member = listed.reporter;
  return member && listed.voter && member->presence == Presence::kMember && !member->failed &&
         member->status() && member->status()->address == listed.address;
}

const ListedServer* live_heir(const ClusterSnapshot& snapshot,
                              const ListedServer& listed) noexcept {
  if (!snapshot.newest || listed.address.empty() || listed.is_loose()) return nullptr;
  for (const ListedServer& other : snapshot.servers) {
    if (&other == &listed || other.address != listed.address || !is_full_member(other)) continue;
    if (is_there(snapshot, other) && !compatible(other.reporter->id, listed.id)) return &other;
  }
  return nullptr;
}

std::optional<std::string> may_be_displaced(const ClusterSnapshot& snapshot,
                                            const ListedServer& listed) {
  if (listed.owner) {
    return fmt::format("it may be {}, a configured member that does not answer now",
                       listed.owner->name());
  }
  for (const Member& member : snapshot.members) {
    if (!may_be(member, listed) || is_placed(member)) continue;
    return fmt::format("it may be {}, and nobody knows which server that was", member.name());
  }
  for (const std::string& hint : snapshot.expectation->addresses) {
    if (means(hint, listed.address) || is_taken(snapshot, hint) || is_ones_place(snapshot, hint))
      continue;
    return fmt::format(
        "nobody lives at {}, which is expected, and whoever lives at {} may have joined with a "
        "wrong address",
        hint, listed.address);
  }
  return std::nullopt;
}

std::optional<std::string> may_still_live(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) {
  return listed.may_have_shared ? silent_too_short(snapshot, listed) : std::nullopt;
}

std::optional<std::string> doubt_of_death(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed) {
  if (auto reason = sign_of_life(snapshot, listed)) return reason;
  if (auto reason = confusion(snapshot)) return reason;
  if (auto reason = may_be_heard(snapshot, listed)) return reason;
  if (snapshot.leader_vouches && listed.at_leader) return std::nullopt;
  return "no leader that hears a majority tells of it";
}

std::optional<std::string> objection_to_kick(const ClusterSnapshot& snapshot,
                                             const ListedServer& listed) {
  const std::string id = label(listed);
  const auto never = [&](const std::string& why) {
    return fmt::format("Do not remove {}: {}.", id, why);
  };
  if (listed.reporter) return never("it answers");
  if (const auto sign = sign_of_life(snapshot, listed)) return never(*sign);
  if (const auto reason = confusion(snapshot)) return never(*reason);
  if (const auto reason = may_be_heard(snapshot, listed)) return never(*reason);
  const auto in_the_way = live_heir(snapshot, listed) ? not_replaced : not_gone;
  if (const auto reason = in_the_way(snapshot, listed)) return never(*reason);
  if (!listed.id.known() || is_ambiguous(snapshot, listed)) {
    return fmt::format(
        "The id {} is not unique in the list: find the full id of the dead server before {} it.",
        id, snapshot.dialect->removing);
  }
  // "It is only a matter of time" is said about certainly dead servers only, because a person who
  // waits kicks at the end of that time. Four digits may belong to another server, too.
  const std::string who = fmt::format("{} at {}", id, listed.address);
  if (auto reason = cannot_change(snapshot, who)) return reason;
  if (listed.heard || listed.witnessed || listed.life != Life::kSilent || !listed.at_leader) {
    return never("it is not certain that it is dead");
  }
  return quorum_at_risk(snapshot, listed, who);
}

}  // namespace wardmote::judge::raft
