#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/opinion.h"
#include "judge/raft/own_link.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// In a minute. A restart of every peer in a cluster of five loses four.
constexpr std::uint64_t kChurn = 6;
/// A burst is shorter; a single burst is no churn.
constexpr Duration kBurst = std::chrono::seconds(30);

/// How long an OVS server waits before it connects again to a server that was away.
constexpr Duration kBackOff = std::chrono::seconds(8);

/// Whether the server `listed` has a working connection of its own to the member, by the report of
/// either.
bool reaches(const ClusterSnapshot& snapshot, const ListedServer& listed,
             const Member& member) noexcept {
  const bool comes_in = std::ranges::any_of(member.connections, [&](const Connection& each) {
    return !each.outgoing && each.up && leads_to(each, listed);
  });
  if (comes_in) return true;
  const Member* const there = listed.reporter;
  return there && there->comparable && snapshot.together(*there, member) &&
         own_link(snapshot, *there, *member.listed) == LinkState::kUp;
}

/// Whether an identified connection of the member to the server works: then own_link() calls it
/// anything but broken.
bool is_linked(const Member& member, const ListedServer& listed) noexcept {
  return std::ranges::any_of(member.connections, [&](const Connection& each) {
    return each.outgoing && each.up && leads_to(each, listed);
  });
}

/// Whether a connection between the two works, whoever opened it.
bool are_joined(const Member& member, const ListedServer& listed) noexcept {
  return std::ranges::any_of(member.connections, [&](const Connection& each) {
    return each.up && leads_to(each, listed);
  });
}

/// The members whose connections to the server fail while its own connections to them work.
std::vector<const Member*> find_shut_out(const ClusterSnapshot& snapshot,
                                         const ListedServer& listed) {
  std::vector<const Member*> shut_out;
  for (const Member& member : snapshot.members) {
    if (!member.comparable || !member.listed || member.listed == &listed) continue;
    if (is_linked(member, listed)) continue;
    const LinkState own = own_link(snapshot, member, listed);
    if (is_broken(own) && reaches(snapshot, listed, member)) shut_out.push_back(&member);
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

void detect_link_asymmetric(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.lives() || !listed.voter) continue;
    const std::vector<const Member*> shut_out = find_shut_out(snapshot, listed);
    if (shut_out.empty()) continue;
    const std::string target = listed.reporter ? label(*listed.reporter) : label(listed);
    const std::string key = listed.reporter ? listed.reporter->name() : key_of(listed);
    Condition found = condition(kRaftLinkAsymmetric, key, snapshot.shown);
    found.window.fixed = std::max<Duration>(found.window.fixed, kBackOff + 2 * snapshot.round());
    found.finding.subjects = names(listed);
    for (const Member* member : shut_out) {
      std::ranges::copy(names(*member), std::back_inserter(found.finding.subjects));
      found.finding.evidence.push_back(testify(*member, {Line::kConnections}));
    }
    found.finding.summary = fmt::format("{} cannot connect to {}, which connects to them",
                                        list_labels(shut_out), target);
    if (listed.reporter)
      found.finding.evidence.push_back(
          testify(*listed.reporter, {Line::kAddress, Line::kConnections}));
    found.finding.advice =
        Advice{.text = fmt::format("Open the raft port of {} ({}) to {}: look for a firewall in "
                                   "front of it. The next leader may not be heard.",
                                   target, listed.address, list_labels(shut_out))};
    out.push_back(std::move(found));
  }
}

void detect_one_way_silence(const ClusterSnapshot& snapshot, Conditions& out) {
  const Member* const leader = snapshot.leader;
  if (!leader || !leader->status() || !leader->listed) return;
  for (const Member& member : snapshot.members) {
    const bool comparable = &member != leader && member.comparable && member.listed &&
                            member.listed->voter && snapshot.together(member, *leader);
    if (!comparable || !member.listed->at_leader) continue;
    const Server* const back = find_line(*member.status(), *leader->listed);
    const std::optional<Milliseconds> to_leader = member.listed->at_leader->last_message;
    if (!back || !back->last_message || !to_leader) continue;
    const bool leader_hears = snapshot.fresh(*to_leader);
    const bool member_hears = snapshot.fresh(*back->last_message);
    if (leader_hears == member_hears) continue;
    const Member& deaf = leader_hears ? member : *leader;
    const Member& heard = leader_hears ? *leader : member;
    Condition found = condition(kRaftOneWaySilence, member.name(),
                                std::max(member.opinion->begun, leader->opinion->begun));
    found.finding.subjects = names(member);
    std::ranges::copy(names(*leader), std::back_inserter(found.finding.subjects));
    found.finding.summary =
        fmt::format("{} does not hear {}, which hears it", label(deaf), label(heard));
    found.finding.evidence = {testify(*leader, *member.listed->at_leader), testify(member, *back)};
    // As one whose disk is full: what it cannot write down it does not acknowledge.
    if (&deaf == leader && are_joined(member, *leader->listed) &&
        are_joined(*leader, *member.listed))
      found.finding.advice =
          Advice{.text = fmt::format(
                     "Both have a connection to the other that works, so look at the disk "
                     "and the log of {} first, which does not answer; then at the network.",
                     label(heard))};
    out.push_back(std::move(found));
  }
}

void detect_connection_churn(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const Track* const track = snapshot.history->of(member);
    if (!member.comparable || !track) continue;
    const Ticks& lost = track->lost_connections;
    if (lost.total() < kChurn || *lost.last() - *lost.first() < kBurst) continue;
    Condition found = condition(kRaftConnectionChurn, member.name(), member.opinion->begun);
    found.since = lost.first();
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} lost {} raft connections in {}", label(member), lost.total(),
                    format_duration(snapshot.now - *lost.first()));
    found.finding.evidence = {testify(member, {Line::kDisconnections, Line::kConnections})};
    out.push_back(std::move(found));
  }
}

void detect_unidentified_peer(const ClusterSnapshot& snapshot, Conditions& out) {
  const bool joining = std::ranges::any_of(
      snapshot.members, [](const Member& member) { return member.presence == Presence::kJoining; });
  for (const Member& member : snapshot.members) {
    if (!member.comparable || !member.listed) continue;
    const auto nameless = static_cast<std::size_t>(std::ranges::count_if(
        member.connections,
        [](const Connection& each) { return !each.outgoing && each.up && each.nameless; }));
    // A listed server that is not identified yet may be the peer.
    if (nameless == 0 || nameless <= count_unlinked(snapshot, member, false)) continue;
    // A joining server may be the peer, too.
    if (snapshot.changing || joining) {
      out.push_back(uncertain(kRaftUnidentifiedPeer, member.name()));
      continue;
    }
    Condition found = condition(kRaftUnidentifiedPeer, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("somebody who is no member keeps a raft connection to {} open", label(member));
    found.finding.evidence = {testify(member, {Line::kConnections}), testify_list(member)};
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
