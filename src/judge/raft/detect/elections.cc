#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// A failover takes one to three elections.
constexpr std::uint64_t kStorm = 5;
/// A rolling restart of three members may change the leader three times.
constexpr std::size_t kUnplannedChanges = 4;
/// Members that compact their databases one after the other pass the leadership on.
constexpr std::size_t kChanges = 8;

std::string describe(const LeaderChange& change) {
  std::string line = fmt::format("became leader ({}) in term {}", change.id, change.term);
  if (!change.reason.empty()) line += ", reason: " + change.reason;
  return line;
}

/// The votes that the candidate knows of, including its own.
std::size_t votes_for(const Status& candidate) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(candidate.servers, [&](const Server& server) {
        if (!is_voter(server.phase) || server.voted_for.empty()) return false;
        const Server* const chosen = find_named(candidate, server.voted_for);
        return server.voted_for == "self" ? server.self : chosen != nullptr && chosen->self;
      }));
}

std::size_t voters_in(const Status& status) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      status.servers, [](const Server& server) { return is_voter(server.phase); }));
}

/// Whether the member voted for another server than the leader in the leader's term.
bool voted_against(const Member& member, const Member& leader) noexcept {
  const Status& status = *member.status();
  if (status.term != leader.status()->term) return false;
  switch (status.vote.kind) {
    case PeerName::Kind::kUnknown: return false;
    case PeerName::Kind::kSelf: return true;
    case PeerName::Kind::kNamed: break;
  }
  const Server* const chosen = find_named(status, status.vote.name);
  return chosen && !same_server(chosen->id, chosen->address, leader.id, leader.address);
}

void add_lost_candidate(const Member& member, Conditions& out) {
  const Status& status = *member.status();
  if (status.role != Role::kCandidate) return;
  const std::size_t votes = votes_for(status);
  const std::size_t needed = voters_in(status) / 2 + 1;
  if (votes == 0 || votes >= needed) return;
  Condition found = condition(kRaftVoteAnomaly, member.name(), member.opinion->begun);
  found.finding.subjects = names(member);
  found.finding.summary = fmt::format("{} stands for election and has {} of the {} votes it needs",
                                      label(member), votes, needed);
  found.finding.evidence = {testify(member, {Line::kRole, Line::kTerm, Line::kVote})};
  for (const Server& server : status.servers) {
    if (!server.voted_for.empty()) found.finding.evidence.push_back(testify(member, server));
  }
  out.push_back(std::move(found));
}

/// A leader whose voters do not add up to a majority.
void add_unelected_leader(const ClusterSnapshot& snapshot, Conditions& out) {
  const Member* const leader = snapshot.leader;
  if (!leader || !leader->status() || !leader->listed) return;
  std::vector<const Member*> against;
  for (const Member& member : snapshot.members) {
    const bool votes =
        &member != leader && member.comparable && member.listed && member.listed->voter;
    if (votes && voted_against(member, *leader)) against.push_back(&member);
  }
  const Quorum& quorum = snapshot.quorum;
  if (against.size() + quorum.needed <= quorum.voters) return;
  Condition found = condition(kRaftVoteAnomaly, leader->name() + "|votes", leader->opinion->begun);
  found.finding.subjects = names(*leader);
  found.finding.summary =
      fmt::format("{} leads in term {}, in which {} of {} voters voted for others", label(*leader),
                  leader->status()->term, against.size(), quorum.voters);
  found.finding.evidence = {testify(*leader, {Line::kRole, Line::kTerm, Line::kVote})};
  for (const Member* member : against)
    found.finding.evidence.push_back(testify(*member, {Line::kRole, Line::kTerm, Line::kVote}));
  out.push_back(std::move(found));
}

}  // namespace

void detect_election_storm(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    // A member that leads or hears a leader does not campaign; a leader that is elected again and
    // again is a flap.
    if (!member.comparable || member.anchored()) continue;
    const Track* const track = snapshot.history->of(member);
    if (!track) continue;
    const std::uint64_t elections = track->elections.total();
    if (elections < kStorm || snapshot.now - *track->elections.last() > 3 * snapshot.round())
      continue;
    Condition found = condition(kRaftElectionStorm, member.name(), member.opinion->begun);
    found.since = track->elections.first();
    found.finding.subjects = names(member);
    const Duration time = snapshot.now - *track->elections.first();
    found.finding.summary = fmt::format("{} keeps starting elections: {} in {}", label(member),
                                        elections, format_duration(time));
    if (snapshot.leader) {
      found.finding.summary +=
          fmt::format("; it does not hear the leader {}", label(*snapshot.leader));
    }
    found.finding.evidence = {
        testify(member, {Line::kStatus, Line::kRole, Line::kTerm, Line::kElection})};
    if (member.listed)
      std::ranges::copy(testify(snapshot, *member.listed),
                        std::back_inserter(found.finding.evidence));
    out.push_back(std::move(found));
  }
}

void detect_leader_flap(const ClusterSnapshot& snapshot, Conditions& out) {
  const std::span<const LeaderChange> changes = snapshot.history->leader_changes();
  const auto unplanned = static_cast<std::size_t>(
      std::ranges::count_if(changes, [](const LeaderChange& change) { return !change.planned(); }));
  if (unplanned < kUnplannedChanges && changes.size() < kChanges) return;
  Condition found = condition(kRaftLeaderFlap, "", changes.back().at);
  if (unplanned < kUnplannedChanges) found.finding.severity = Severity::kInfo;
  found.since = changes.front().at;
  for (const LeaderChange& change : changes) {
    if (std::ranges::find(found.finding.subjects, change.member) == found.finding.subjects.end())
      found.finding.subjects.push_back(change.member);
    found.finding.evidence.push_back({change.member, describe(change)});
  }
  std::ranges::sort(found.finding.subjects);
  found.finding.summary =
      fmt::format("the leader changed {} times in {}, {} of them planned transfers", changes.size(),
                  format_duration(snapshot.now - changes.front().at), changes.size() - unplanned);
  out.push_back(std::move(found));
}

void detect_vote_anomaly(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (member.comparable) add_lost_candidate(member, out);
  }
  add_unelected_leader(snapshot, out);
}

}  // namespace wardmote::judge::raft
