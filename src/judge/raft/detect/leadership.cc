#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// The leader that a member names.
struct Claim {
  const Member* by = nullptr;
  std::optional<std::uint64_t> term;  ///< nothing when only its local view is known
  MemberId leader;
  std::string_view address;
};

std::optional<Claim> claim_of(const Member& member) noexcept {
  if (!member.takes_part() || member.failed) return std::nullopt;
  const Status* const status = member.status();
  Claim claim{.by = &member};
  if (status) claim.term = status->term;
  if (member.claims_to_lead()) {
    claim.leader = member.id;
    claim.address = member.address;
  } else if (member.leader_line) {
    claim.leader = member.leader_line->id;
    claim.address = member.leader_line->address;
  } else {
    return std::nullopt;
  }
  return claim;
}

bool contradict(const Claim& a, const Claim& b) noexcept {
  if (same_server(a.leader, a.address, b.leader, b.address)) return false;
  if (a.term && b.term) return *a.term == *b.term;
  // Without terms, only two members that both say that they lead contradict each other.
  return a.by->claims_to_lead() && b.by->claims_to_lead();
}

bool knows(const ClusterSnapshot& snapshot, const std::string& name) noexcept {
  return std::ranges::any_of(snapshot.members, [&](const Member& member) {
    return member.takes_part() && member.status() &&
           std::ranges::any_of(member.status()->servers, [&](const Server& server) {
             const std::optional<MemberId> id = parse_member_id(name);
             return server.nickname == name || (id && compatible(*id, server.id));
           });
  });
}

bool names_a_stranger(const ClusterSnapshot& snapshot, const Member& member) noexcept {
  if (!member.takes_part() || member.failed || !member.status() || member.leader_line) return false;
  const PeerName& leader = member.status()->leader;
  return leader.kind == PeerName::Kind::kNamed && !knows(snapshot, leader.name);
}

}  // namespace

bool lacks_majority(const ClusterSnapshot& snapshot, const Member& leader) {
  const Status* const status = leader.status();
  if (!status || !tells_ages(*status)) return false;
  std::size_t voters = 0;
  std::size_t heard = 0;
  for (const Server& server : status->servers) {
    if (!is_voter(server.phase)) continue;
    ++voters;
    heard += server.self || (server.last_message && snapshot.fresh(*server.last_message));
  }
  return heard < voters / 2 + 1;
}

void detect_two_leaders_same_term(const ClusterSnapshot& snapshot, Conditions& out) {
  const auto leads = [](const Member& m) {
    return m.takes_part() && !m.failed && m.status() && m.claims_to_lead();
  };
  for (auto a = snapshot.members.begin(); a != snapshot.members.end(); ++a) {
    if (!leads(*a)) continue;
    for (auto b = a + 1; b != snapshot.members.end(); ++b) {
      if (!leads(*b) || a->status()->term != b->status()->term) continue;
      Condition found =
          condition(kRaftTwoLeadersSameTerm, fmt::format("{}|{}", a->name(), b->name()),
                    std::max(a->opinion->begun, b->opinion->begun));
      found.finding.subjects = names(*a);
      std::ranges::copy(names(*b), std::back_inserter(found.finding.subjects));
      found.finding.summary = fmt::format("{} and {} both lead in term {}, which raft forbids",
                                          label(*a), label(*b), a->status()->term);
      for (const Member* member : {&*a, &*b}) {
        found.finding.evidence.push_back(
            testify(*member, {Line::kRole, Line::kTerm, Line::kClusterId}));
      }
      out.push_back(std::move(found));
    }
  }
}

void detect_stale_leader(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || member.failed || !member.status() || !member.claims_to_lead())
      continue;
    const bool outdated = snapshot.anchored() && member.status()->term < snapshot.term();
    if (!outdated && !lacks_majority(snapshot, member)) continue;
    Condition found = condition(kRaftStaleLeader, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.evidence.push_back(testify(member, {Line::kRole, Line::kTerm}));
    if (outdated) {
      found.finding.summary =
          fmt::format("{} still leads in term {}, while the cluster is in term {}", label(member),
                      member.status()->term, snapshot.term());
      found.finding.evidence.push_back(
          testify(*snapshot.newest, {Line::kRole, Line::kTerm, Line::kLeader}));
    } else {
      found.finding.summary =
          fmt::format("{} leads and hears no majority of the voters", label(member));
      for (const Server& server : member.status()->servers) {
        if (!server.self) found.finding.evidence.push_back(testify(member, server));
      }
    }
    out.push_back(std::move(found));
  }
}

void detect_failed_leader(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || !member.failed || !member.claims_to_lead()) continue;
    Condition found = condition(kRaftFailedLeader, member.name(), member.opinion->begun);
    // Without its status, a leader that is leaving looks the same for a moment.
    if (!member.status()) found.window = {.rounds = 1};
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format(
        "{} stopped serving after an error and still calls itself leader", label(member));
    found.finding.evidence.push_back(testify(member, {Line::kStatus, Line::kRole, Line::kTerm}));
    if (member.status() && member.opinion->local) {
      found.finding.evidence.push_back({member.name(), quote(*member.opinion->local)});
    }
    out.push_back(std::move(found));
  }
}

bool anybody_has_leader(const ClusterSnapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.members, [](const Member& member) {
    return member.says_connected() || (member.takes_part() && member.anchored());
  });
}

void detect_no_leader(const ClusterSnapshot& snapshot, Conditions& out) {
  if (anybody_has_leader(snapshot)) return;
  if (snapshot.starved || !snapshot.anybody_takes_part())
    return out.push_back(uncertain(kRaftNoLeader, ""));
  Condition found = condition(kRaftNoLeader, "", snapshot.shown);
  found.finding.summary = "no member that answers leads, or hears a leader";
  std::vector<std::string> unknown;
  for (const Member& member : snapshot.members) {
    if (member.presence == Presence::kUnknown) unknown.push_back(member.name());
    if (!member.takes_part()) continue;
    found.finding.evidence.push_back(
        testify(member, {Line::kRole, Line::kTerm, Line::kLog, Line::kLeader}));
  }
  if (!unknown.empty()) {
    const std::string who = fmt::format("{}", fmt::join(unknown, ", "));
    found.finding.summary += fmt::format("; nothing is known of {}", who);
    found.finding.advice =
        Advice{.text = fmt::format("Look at the network between this agent, the members that "
                                   "answer it, and {}: those may have a leader of their own.",
                                   who)};
  }
  const Quorum& quorum = snapshot.quorum;
  if (unknown.empty() && snapshot.newest && quorum.live < quorum.needed) {
    found.finding.summary += fmt::format("; {} of {} voters answer, {} are needed", quorum.live,
                                         quorum.voters, quorum.needed);
    found.finding.advice = Advice{
        .text = fmt::format(
            "Nothing can be written, and a {} needs a commit and cannot work. Look on the hosts of "
            "the voters that do not answer, and start them with the data that they had.",
            snapshot.dialect->removal)};
  }
  out.push_back(std::move(found));
}

void detect_leader_disagreement(const ClusterSnapshot& snapshot, Conditions& out) {
  for (auto a = snapshot.members.begin(); a != snapshot.members.end(); ++a) {
    const std::optional<Claim> first = claim_of(*a);
    if (!first) continue;
    for (auto b = a + 1; b != snapshot.members.end(); ++b) {
      const std::optional<Claim> second = claim_of(*b);
      if (!second || !contradict(*first, *second)) continue;
      Condition found = condition(kRaftLeaderDisagreement, "", snapshot.shown);
      found.finding.subjects = {a->name(), b->name()};
      found.finding.summary = fmt::format("{} takes {} for the leader, {} takes {}", label(*a),
                                          a->dialect().short_id(first->leader), label(*b),
                                          b->dialect().short_id(second->leader));
      for (const Member* member : {&*a, &*b}) {
        found.finding.evidence.push_back(
            testify(*member, {Line::kRole, Line::kTerm, Line::kLeader}));
      }
      return out.push_back(std::move(found));
    }
  }
  for (const Member& member : snapshot.members) {
    if (!names_a_stranger(snapshot, member)) continue;
    Condition found = condition(kRaftLeaderDisagreement, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} names {} as leader, which is in nobody's list",
                                        label(member), member.status()->leader.name);
    found.finding.evidence = {testify(member, {Line::kTerm, Line::kLeader}), testify_list(member)};
    out.push_back(std::move(found));
  }
}

void detect_term_divergence(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!snapshot.anchored()) return;
  for (const Member& member : snapshot.members) {
    if (!member.takes_part() || !member.status() || member.status()->term == snapshot.term())
      continue;
    const bool ahead = member.status()->term > snapshot.term();
    Condition found = condition(kRaftTermDivergence, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} is {} the cluster: term {} against {}", label(member),
                    ahead ? "ahead of" : "behind", member.status()->term, snapshot.term());
    found.finding.evidence = {testify(member, {Line::kRole, Line::kTerm, Line::kLeader}),
                              testify(*snapshot.newest, {Line::kRole, Line::kTerm, Line::kLeader})};
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
