#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/advice.h"
#include "judge/raft/assess.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

void tell_of_the_dead(const Picture& picture, Finding& finding) {
  for (const Seat& seat : picture.seats) {
    if (!seat.voter || seat.life == Life::kLive) continue;
    if (seat.owner) finding.evidence.push_back(testify(*seat.owner, {Line::kStatus}));
    std::ranges::copy(testify(picture, seat), std::back_inserter(finding.evidence));
  }
}

}  // namespace

void detect_no_quorum(const Picture& picture, Conditions& out) {
  const Quorum& quorum = picture.quorum;
  const std::size_t live = quorum.live + picture.cut_off;
  if (quorum.voters == 0 || picture.quorum_proven || live >= quorum.needed) return;
  if (live + picture.unknown >= quorum.needed) return out.push_back(uncertain(kRaftNoQuorum, ""));
  Condition found = condition(kRaftNoQuorum, "", picture.shown);
  found.finding.summary = fmt::format("{} of {} voters live, {} are needed: nothing can be written",
                                      live, quorum.voters, quorum.needed);
  if (picture.newest) {
    found.finding.evidence.push_back(
        {picture.newest->name(), quote_list(*picture.newest->status())});
  }
  tell_of_the_dead(picture, found.finding);
  found.finding.advice = Advice{.text = recover_quorum()};
  out.push_back(std::move(found));
}

void detect_quorum_margin(const Picture& picture, Conditions& out) {
  const Quorum& quorum = picture.quorum;
  if (quorum.voters < 3) return;
  const std::size_t at_best = quorum.live + picture.unknown + picture.unasked;
  if (quorum.live > quorum.needed || at_best < quorum.needed) return;
  if (at_best > quorum.needed) return out.push_back(uncertain(kRaftQuorumMargin, ""));
  Condition found = condition(kRaftQuorumMargin, "", picture.shown);
  found.finding.summary =
      fmt::format("{} of {} voters live and {} are needed: the next failure stops all writes",
                  at_best, quorum.voters, quorum.needed);
  tell_of_the_dead(picture, found.finding);
  out.push_back(std::move(found));
}

void detect_cluster_size(const Picture& picture, Conditions& out) {
  const std::size_t voters = picture.quorum.voters;
  if (voters == 0) return;
  if (!picture.newest) return out.push_back(uncertain(kRaftClusterSize, ""));
  const Expectation& hint = *picture.expectation;
  const std::size_t expected = hint.replicas > 0 ? hint.replicas : hint.addresses.size();
  const bool unexpected = expected > 0 && voters != expected;
  const bool wasteful = voters == 1 || voters % 2 == 0;
  if (!unexpected && !wasteful) return;
  Condition found = condition(kRaftClusterSize, "", picture.shown);
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
  found.finding.evidence = {{picture.newest->name(), quote_list(*picture.newest->status())}};
  out.push_back(std::move(found));
}

void detect_commit_stall(const Picture& picture, Conditions& out) {
  if (!picture.leader || !picture.leader->status()) return;
  const Member& leader = *picture.leader;
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
    if (!server.self && behind) found.finding.evidence.push_back({leader.name(), quote(server)});
  }
  out.push_back(std::move(found));
}

}  // namespace wardmote::judge::raft
