#include <algorithm>
#include <cstddef>
#include <iterator>
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
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// The voters that the majority cannot count on: dead, not askable, or acknowledging nothing.
void tell_of_the_missing(const ClusterSnapshot& snapshot, Finding& finding) {
  for (const ListedServer& listed : snapshot.servers) {
    if (!listed.voter || (listed.life == Life::kLive && !listed.stalled)) continue;
    if (listed.owner) finding.evidence.push_back(testify(*listed.owner, {Line::kStatus}));
    const std::vector<Evidence> others = testify(snapshot, listed);
    std::ranges::copy(others, std::back_inserter(finding.evidence));
    if (others.empty() && listed.reporter)
      finding.evidence.push_back(testify(*listed.reporter, {Line::kRole, Line::kTerm, Line::kLog}));
  }
}

/// Whether the list is remembered, and the answering members show that it may be old: a server of
/// it has left since, or a member leads, which needs a majority of the true list, or one takes part
/// that the list lacks: a leader had written its removal, and the next one did not have that.
bool may_be_old(const ClusterSnapshot& snapshot) noexcept {
  if (snapshot.newest) return false;
  if (snapshot.list_in_doubt) return true;
  return snapshot.leader || std::ranges::any_of(snapshot.members, [](const Member& member) {
           if (member.takes_part() && !member.listed && !member.left_behind) return true;
           return member.presence == Presence::kGone && member.status() && member.listed;
         });
}

/// Whether a member says that somebody leads, as far as it can tell.
bool somebody_is_led(const ClusterSnapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.members, [](const Member& member) {
    if (!member.takes_part() || !member.status() || member.outvoted) return false;
    const Status& status = *member.status();
    return member.hears_leader || (status.role == Role::kLeader && !tells_ages(status));
  });
}

/// Whether it is known by four digits that another server has too which member a voter is that does
/// not answer. Or by elimination alone, and nobody says that he is without a leader.
bool rests_on_a_guess(const ClusterSnapshot& snapshot) noexcept {
  const bool guesses_count = snapshot.newest && !somebody_is_led(snapshot);
  return std::ranges::any_of(snapshot.servers, [&](const ListedServer& listed) {
    if (!listed.voter || listed.life != Life::kSilent) return false;
    const bool guess = listed.guessed || (listed.attributed && !listed.owner);
    return (guess && !guesses_count) || is_ambiguous(snapshot, listed);
  });
}

/// Never to remove one: what may be removed has a finding of its own.
std::string advise_on_size(const Dialect& dialect, std::size_t voters, std::size_t expected) {
  if (voters < expected)
    return fmt::format("{} the members that are missing, or correct the expected number.",
                       dialect.join);
  if (expected > 0) return std::string(dialect.too_many);
  const std::string_view what =
      voters == 1 ? "two more members, if the cluster must outlive the loss of one."
                  : "one more member: the cluster then outlives one more failure.";
  return fmt::format("{} {}", dialect.join, what);
}

/// The members that only have to be started, where they are enough.
std::string who_would_do(const ClusterSnapshot& snapshot, std::size_t live) {
  std::vector<std::string> down;
  for (const Member& member : snapshot.members) {
    const bool voter = member.listed != nullptr && member.listed->voter;
    if (voter && member.presence == Presence::kDown && !member.unreachable)
      down.push_back(label(member));
  }
  if (down.empty() || live + down.size() < snapshot.quorum.needed) return "";
  return fmt::format(" {} on hosts that answer: {} of them {} enough.",
                     down.size() == 1 ? down.front() + " is down"
                                      : fmt::format("{} are down", fmt::join(down, ", ")),
                     snapshot.quorum.needed - live,
                     snapshot.quorum.needed - live == 1 ? "is" : "are");
}

}  // namespace

void detect_no_quorum(const ClusterSnapshot& snapshot, Conditions& out) {
  const Quorum& quorum = snapshot.quorum;
  const std::size_t live = quorum.live + snapshot.stalled + snapshot.cut_off;
  // Nobody shows a list any more: that is no better.
  if (quorum.voters == 0) return out.push_back(uncertain(kRaftNoQuorum, ""));
  if (snapshot.quorum_proven || live >= quorum.needed) return;
  // The servers that we know nothing about may have a majority among themselves: then we are the
  // blind ones.
  const bool blind = snapshot.possible() >= quorum.needed ||
                     std::ranges::any_of(snapshot.members, &Member::says_connected);
  if (blind || may_be_old(snapshot) || rests_on_a_guess(snapshot)) {
    return out.push_back(uncertain(kRaftNoQuorum, ""));
  }
  Condition found = condition(kRaftNoQuorum, "", snapshot.shown);
  found.finding.summary = fmt::format("{} of {} voters answer or are heard, {} are needed to write",
                                      live, quorum.voters, quorum.needed);
  if (snapshot.newest) {
    found.finding.evidence.push_back(testify_list(*snapshot.newest));
  }
  tell_of_the_missing(snapshot, found.finding);
  found.finding.advice =
      Advice{.text = std::string(snapshot.dialect->lost_quorum) + who_would_do(snapshot, live)};
  out.push_back(std::move(found));
}

void detect_quorum_margin(const ClusterSnapshot& snapshot, Conditions& out) {
  const Quorum& quorum = snapshot.quorum;
  if (quorum.voters < 3) return;
  const std::size_t at_best = quorum.live + snapshot.unknown + snapshot.unasked;
  if (quorum.live > quorum.needed || at_best < quorum.needed) return;
  // The servers that we know nothing about may be alive or dead: only a member that hears a leader
  // knows that there is a majority.
  const bool certain = quorum.live == quorum.needed || snapshot.quorum_proven;
  if (at_best > quorum.needed || !certain) return out.push_back(uncertain(kRaftQuorumMargin, ""));
  Condition found = condition(kRaftQuorumMargin, "", snapshot.shown);
  found.finding.summary = fmt::format(
      "{} of {} voters answer or are heard, {} are needed: the next failure stops all writes",
      at_best, quorum.voters, quorum.needed);
  tell_of_the_missing(snapshot, found.finding);
  out.push_back(std::move(found));
}

void detect_cluster_size(const ClusterSnapshot& snapshot, Conditions& out) {
  const std::size_t voters = snapshot.quorum.voters;
  if (voters == 0) return;
  if (!snapshot.newest || snapshot.list_in_doubt)
    return out.push_back(uncertain(kRaftClusterSize, ""));
  const Expectation& hint = *snapshot.expectation;
  const std::size_t expected = hint.replicas > 0 ? hint.replicas : hint.addresses.size();
  const bool unexpected = expected > 0 && voters != expected;
  const bool wasteful = voters == 1 || voters % 2 == 0;
  if (!unexpected && !wasteful) return;
  Condition found = condition(kRaftClusterSize, "", snapshot.shown);
  if (unexpected) {
    found.finding.summary =
        fmt::format("the cluster has {} voters, {} are expected", voters, expected);
  } else {
    found.finding.severity = Severity::kInfo;
    found.finding.summary =
        voters == 1
            ? "the cluster has a single voter: its failure stops all writes"
            : fmt::format("the cluster has {} voters, which tolerate no more failures than {}",
                          voters, voters - 1);
  }
  found.finding.advice = Advice{.text = advise_on_size(*snapshot.dialect, voters, expected)};
  found.finding.evidence = {testify_list(*snapshot.newest)};
  out.push_back(std::move(found));
}

void detect_commit_stall(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!snapshot.leader || !snapshot.leader->status()) return;
  const Member& leader = *snapshot.leader;
  const Status& status = *leader.status();
  if (status.uncommitted == 0) return;
  // The index is in the key, so that progress begins a new condition.
  const std::string key =
      fmt::format("{}@{}:{}", leader.name(), status.term, status.committed_index());
  Condition found = condition(kRaftCommitStall, key, leader.opinion->begun);
  found.finding.subjects = names(leader);
  found.finding.summary = fmt::format("{} cannot commit {} entries after index {}", label(leader),
                                      status.uncommitted, status.committed_index());
  found.finding.evidence = {testify(leader, {Line::kRole, Line::kLog, Line::kUncommitted})};
  for (const Server& server : status.servers) {
    const bool behind = server.match_index && *server.match_index + 1 < status.log_next;
    if (!server.self && behind) found.finding.evidence.push_back(testify(leader, server));
  }
  out.push_back(std::move(found));
}

}  // namespace wardmote::judge::raft
