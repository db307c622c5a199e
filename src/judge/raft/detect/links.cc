#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/history.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// What OVSDB prints for a peer that was never identified.
constexpr std::string_view kNobody = "0000";
/// In a minute. A restart of every peer of a cluster of five loses four.
constexpr std::uint64_t kChurn = 6;
/// A burst is shorter; one of them is no churn.
constexpr Duration kBurst = std::chrono::seconds(30);

enum class LinkState : std::uint8_t { kUp, kDown, kMissing, kUnknown };

const Server* find_line(const Status& status, const Seat& seat) noexcept {
  const auto found = std::ranges::find_if(status.servers, [&](const Server& server) {
    return same_server(server.id, server.address, seat.id, seat.address);
  });
  return found == status.servers.end() ? nullptr : &*found;
}

/// Whether the link leads to or from the server at `seat`. A connection to an address is the same
/// whichever of the servers that are listed there it was opened for.
bool leads_to(const Status& status, const Link& link, const Seat& seat) noexcept {
  if (link.peer == kNobody) return false;
  const Server* const peer = find_named(status, link.peer);
  if (!peer) return false;
  const bool same_address = link.outgoing && !seat.address.empty() && peer->address == seat.address;
  return same_address || same_server(peer->id, peer->address, seat.id, seat.address);
}

bool has_link(const Status& status, const Seat& seat, bool outgoing) noexcept {
  return std::ranges::any_of(status.links, [&](const Link& link) {
    return link.outgoing == outgoing && leads_to(status, link, seat);
  });
}

/// How many other listed servers have no identified link of that direction.
std::size_t count_unlinked(const Picture& picture, const Member& member, bool outgoing) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(picture.seats, [&](const Seat& seat) {
    return &seat != member.seat && !has_link(*member.status(), seat, outgoing);
  }));
}

/// The member's own connection to the server. The one that a member joined through stays
/// unidentified for ever (`->0000`), so it is told by elimination, or not at all.
LinkState own_link(const Picture& picture, const Member& member, const Seat& seat) noexcept {
  const Status& status = *member.status();
  LinkState state = LinkState::kMissing;
  const Link* unidentified = nullptr;
  std::size_t unidentified_links = 0;
  for (const Link& link : status.links) {
    if (!link.outgoing) continue;
    if (leads_to(status, link, seat)) {
      if (link.up) return LinkState::kUp;
      state = LinkState::kDown;
    } else if (link.peer == kNobody) {
      unidentified = &link;
      ++unidentified_links;
    }
  }
  if (state == LinkState::kDown || !unidentified) return state;
  const bool unique = unidentified_links == 1 && count_unlinked(picture, member, true) == 1;
  if (!unique) return LinkState::kUnknown;
  return unidentified->up ? LinkState::kUp : LinkState::kDown;
}

/// Whether the server at `seat` has a connection of its own to the member that works, by the word
/// of either.
bool reaches(const Picture& picture, const Seat& seat, const Member& member) noexcept {
  const Status& status = *member.status();
  const bool comes_in = std::ranges::any_of(status.links, [&](const Link& link) {
    return !link.outgoing && link.up && leads_to(status, link, seat);
  });
  if (comes_in) return true;
  const Member* const there = seat.reporter;
  return there && there->comparable && picture.together(*there, member) &&
         own_link(picture, *there, *member.seat) == LinkState::kUp;
}

/// Whose connections to the server do not come about while its own to them do.
std::vector<const Member*> find_shut_out(const Picture& picture, const Seat& seat) {
  std::vector<const Member*> shut_out;
  for (const Member& member : picture.members) {
    if (!member.comparable || !member.seat || member.seat == &seat) continue;
    const LinkState own = own_link(picture, member, seat);
    const bool broken = own == LinkState::kDown || own == LinkState::kMissing;
    if (broken && reaches(picture, seat, member)) shut_out.push_back(&member);
  }
  return shut_out;
}

std::string list_labels(const std::vector<const Member*>& members) {
  std::vector<std::string> labels;
  labels.reserve(members.size());
  for (const Member* member : members) labels.push_back(label(*member));
  return fmt::format("{}", fmt::join(labels, ", "));
}

}  // namespace

void detect_link_asymmetric(const Picture& picture, Conditions& out) {
  for (const Seat& seat : picture.seats) {
    if (!seat.lives() || !seat.voter) continue;
    const std::vector<const Member*> shut_out = find_shut_out(picture, seat);
    if (shut_out.empty()) continue;
    const std::string target = seat.reporter ? label(*seat.reporter) : label(seat);
    const std::string key = seat.reporter ? seat.reporter->name() : target;
    Condition found = condition(kRaftLinkAsymmetric, key, picture.shown);
    found.finding.subjects = names(seat);
    for (const Member* member : shut_out) {
      std::ranges::copy(names(*member), std::back_inserter(found.finding.subjects));
      found.finding.evidence.push_back(testify(*member, {Line::kConnections}));
    }
    found.finding.summary = fmt::format("{} cannot connect to {}, which connects to them",
                                        list_labels(shut_out), target);
    if (seat.reporter)
      found.finding.evidence.push_back(
          testify(*seat.reporter, {Line::kAddress, Line::kConnections}));
    found.finding.advice =
        Advice{.text = fmt::format("Open the raft port of {} ({}) to {}: look for a firewall in "
                                   "front of it. The next leader may not be heard.",
                                   target, seat.address, list_labels(shut_out))};
    out.push_back(std::move(found));
  }
}

void detect_one_way_silence(const Picture& picture, Conditions& out) {
  const Member* const leader = picture.leader;
  if (!leader || !leader->status() || !leader->seat) return;
  for (const Member& member : picture.members) {
    const bool comparable = &member != leader && member.comparable && member.seat &&
                            member.seat->voter && picture.together(member, *leader);
    if (!comparable || !member.seat->at_leader) continue;
    const Server* const back = find_line(*member.status(), *leader->seat);
    const std::optional<Milliseconds> to_leader = member.seat->at_leader->last_message;
    if (!back || !back->last_message || !to_leader) continue;
    const bool leader_hears = picture.fresh(*to_leader);
    const bool member_hears = picture.fresh(*back->last_message);
    if (leader_hears == member_hears) continue;
    const Member& deaf = leader_hears ? member : *leader;
    const Member& heard = leader_hears ? *leader : member;
    Condition found = condition(kRaftOneWaySilence, member.name(),
                                std::max(member.opinion->begun, leader->opinion->begun));
    found.finding.subjects = names(member);
    std::ranges::copy(names(*leader), std::back_inserter(found.finding.subjects));
    found.finding.summary =
        fmt::format("{} does not hear {}, which hears it", label(deaf), label(heard));
    found.finding.evidence = {{leader->name(), quote(*member.seat->at_leader)},
                              {member.name(), quote(*back)}};
    out.push_back(std::move(found));
  }
}

void detect_connection_churn(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    const Track* const track = picture.history->of(member);
    if (!member.comparable || !track) continue;
    const Ticks& lost = track->lost_connections;
    if (lost.total() < kChurn || *lost.last() - *lost.first() < kBurst) continue;
    Condition found = condition(kRaftConnectionChurn, member.name(), member.opinion->begun);
    found.since = lost.first();
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} lost {} raft connections in {}", label(member),
                                        lost.total(), format_duration(picture.now - *lost.first()));
    found.finding.evidence = {testify(member, {Line::kDisconnections, Line::kConnections})};
    out.push_back(std::move(found));
  }
}

void detect_unidentified_peer(const Picture& picture, Conditions& out) {
  for (const Member& member : picture.members) {
    if (!member.comparable || !member.seat) continue;
    const auto nameless = static_cast<std::size_t>(std::ranges::count_if(
        member.status()->links,
        [](const Link& link) { return !link.outgoing && link.up && link.peer == kNobody; }));
    // A listed server that is not identified yet may be the one.
    if (nameless <= count_unlinked(picture, member, false)) continue;
    // So may one that is joining.
    if (picture.changing) {
      out.push_back(uncertain(kRaftUnidentifiedPeer, member.name()));
      continue;
    }
    Condition found = condition(kRaftUnidentifiedPeer, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("somebody who is no member keeps a raft connection to {} open", label(member));
    found.finding.evidence = {testify(member, {Line::kConnections}),
                              {member.name(), quote_list(*member.status())}};
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
