#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// Whether its log has nothing uncommitted or unapplied, so that its list is that of its applied
/// index.
bool is_settled(const Member& member) noexcept {
  return member.takes_part() && member.presence != Presence::kLeaving && !member.failed &&
         member.status() && member.status()->uncommitted == 0 && member.status()->unapplied == 0 &&
         !member.zombie;
}

bool lists(const Status& status, const Server& wanted) noexcept {
  return std::ranges::any_of(status.servers, [&](const Server& server) {
    return same_server(server.id, server.address, wanted.id, wanted.address) &&
           server.address == wanted.address;
  });
}

bool same_list(const Status& a, const Status& b) noexcept {
  if (a.servers.size() != b.servers.size()) return false;
  for (std::size_t i = 0; i < a.servers.size(); ++i) {
    const bool same_place =
        a.servers[i].id == b.servers[i].id && a.servers[i].address == b.servers[i].address;
    if (!same_place && !lists(b, a.servers[i])) return false;
  }
  return true;
}

/// Nothing that destroys data: the name may be wrong, or the file only detached.
Advice advise_on_database(const ClusterSnapshot& snapshot, const Member& member) {
  const std::string& database = snapshot.expectation->database;
  const auto serves_none = [](const Member& each) { return each.presence == Presence::kGone; };
  if (std::ranges::all_of(snapshot.members, serves_none)) {
    return {.text = fmt::format("None of the members that are given here serves {}: correct "
                                "'database' in the configuration, or attach it again.",
                                database)};
  }
  if (member.identity && member.identity->leaving) {
    return {.text = fmt::format(
                "It was leaving the cluster when it said last how it was, and a database that has "
                "left is not taken back. Keep its file: it may be one of the last copies (its "
                "data can be read with 'ovsdb-tool cluster-to-standalone'). If {} should be a "
                "member, join it with a new database.",
                member.name())};
  }
  if (member.identity && member.identity->id.known()) {
    return {.text = fmt::format("It was {}, which is still listed: attach its database again "
                                "(ovsdb-server/add-db), or restart the server with it. Keep the "
                                "file.",
                                member.dialect().short_id(member.identity->id))};
  }
  return {.text = fmt::format("Correct the sockets of {} in the configuration, or attach {} to its "
                              "server. Keep the files that are there.",
                              member.name(), database)};
}

}  // namespace

namespace {

/// The leader has heard it, so it is not for want of an address.
void tell_of_adding(const Member& leader, const Member& joiner, Finding& finding) {
  for (const MembershipChange& change : leader.status()->changes) {
    if (!change.adding || !compatible(change.id, joiner.id)) continue;
    finding.evidence.push_back(
        {leader.name(), fmt::format("Adding server {} at {} ({})", short_name(change.id),
                                    change.address, to_string(change.phase))});
    finding.advice = Advice{
        .text = fmt::format("{} is adding it: look at the network between the two and at the disk "
                            "of {}, and give a large database time.",
                            label(leader), label(joiner))};
  }
}

/// Whether the addresses that it has to ask are of no server of now.
bool dials_nobody(const ClusterSnapshot& snapshot, const Member& joiner) {
  if (!snapshot.anchored() || !joiner.status()) return false;
  const std::vector<std::string>& remotes = joiner.status()->join_remotes;
  return !remotes.empty() && std::ranges::none_of(remotes, [&](const std::string& remote) {
    return std::ranges::find(snapshot.servers, remote, &ListedServer::address) !=
           snapshot.servers.end();
  });
}

}  // namespace

void detect_joining_stuck(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (member.presence != Presence::kJoining) continue;
    Condition found = condition(kRaftJoiningStuck, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} is joining the cluster and does not get in", label(member));
    found.finding.evidence = {testify(member, {Line::kStatus, Line::kRemotes, Line::kClusterId})};
    if (snapshot.leader && snapshot.leader->status()) {
      found.finding.evidence.push_back(testify_list(*snapshot.leader));
      tell_of_adding(*snapshot.leader, member, found.finding);
    }
    if (dials_nobody(snapshot, member))
      found.finding.summary += ", and the addresses that it dials are not in the list";
    if (!snapshot.leader)
      found.finding.advice = Advice{
          .text = "No leader is there that could let it in: bring back the members that are down."};
    out.push_back(std::move(found));
  }
}

void detect_member_removed(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    const bool leaving = member.presence == Presence::kLeaving;
    if (!leaving && (member.presence != Presence::kGone || member.lacks_database(snapshot)))
      continue;
    Condition found = condition(kRaftMemberRemoved, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    if (leaving) {
      // Leaving is legal and takes as long as the leader needs to commit it; a join gets the same
      // time.
      found.window = info(kRaftJoiningStuck).window;
      found.finding.severity = Severity::kWarning;
      found.finding.summary =
          fmt::format("{} is leaving the cluster and does not get out", label(member));
      found.finding.evidence = {testify(member, {Line::kStatus, Line::kRole, Line::kTerm})};
    } else {
      found.finding.summary =
          fmt::format("{} runs, but belongs to the cluster no longer", label(member));
      found.finding.evidence = {testify(member, {Line::kStatus})};
    }
    if (snapshot.newest) {
      found.finding.evidence.push_back(testify_list(*snapshot.newest));
    }
    out.push_back(std::move(found));
  }
}

void detect_no_database(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (!member.lacks_database(snapshot)) continue;
    const std::string& database = snapshot.expectation->database;
    const std::vector<std::string>& serves = member.opinion->serves;
    Condition found = condition(kRaftNoDatabase, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary = fmt::format("{} has no database {}", member.name(), database);
    if (!serves.empty())
      found.finding.summary += fmt::format("; it serves {}", fmt::join(serves, ", "));
    found.finding.evidence = {{member.name(), describe(member.opinion->silence())}};
    if (snapshot.newest) {
      found.finding.evidence.push_back(testify_list(*snapshot.newest));
    }
    found.finding.advice = advise_on_database(snapshot, member);
    out.push_back(std::move(found));
  }
}

namespace {

Condition follows_in_name(const Member& member, const Member& newest) {
  Condition found = condition(kRaftMemberListMismatch, member.name(), member.opinion->begun);
  found.finding.subjects = names(member);
  found.finding.summary = fmt::format(
      "{} follows {}, which its own list of {} lacks: it stores nothing of what it acknowledges",
      label(member), member.status()->leader.name, member.status()->servers.size());
  found.finding.evidence = {testify(member, {Line::kRole, Line::kTerm, Line::kLeader, Line::kLog}),
                            testify_list(member), testify(newest, {Line::kTerm, Line::kLog}),
                            testify_list(newest)};
  found.finding.advice = Advice{
      .text = fmt::format(
          "Do not count on {}. Copy its data aside before it is added again as a new member.",
          label(member))};
  return found;
}

}  // namespace

void detect_member_list_mismatch(const ClusterSnapshot& snapshot, Conditions& out) {
  if (!snapshot.newest) return;
  const Member& newest = *snapshot.newest;
  for (const Member& member : snapshot.members) {
    if (&member == &newest) continue;
    if (member.follows_in_name) {
      out.push_back(follows_in_name(member, newest));
      continue;
    }
    const bool comparable = is_settled(member) && is_settled(newest) && !snapshot.changing &&
                            member.status()->applied_index() == newest.status()->applied_index();
    if (!comparable) {
      if (member.takes_part()) out.push_back(uncertain(kRaftMemberListMismatch, member.name()));
      continue;
    }
    if (same_list(*member.status(), *newest.status())) continue;
    Condition found = condition(kRaftMemberListMismatch, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    found.finding.summary =
        fmt::format("{} and {} have applied the same log and list different members", label(member),
                    label(newest));
    for (const Member* each : {&member, &newest}) {
      found.finding.evidence.push_back(testify(*each, {Line::kTerm, Line::kLog}));
      found.finding.evidence.push_back(testify_list(*each));
    }
    out.push_back(std::move(found));
  }
}

void detect_mode_mismatch(const ClusterSnapshot& snapshot, Conditions& out) {
  for (const Member& member : snapshot.members) {
    if (member.presence != Presence::kOtherMode) continue;
    const Mode mode = member.opinion->mode;
    Condition found = condition(kRaftModeMismatch, member.name(), member.opinion->begun);
    found.finding.subjects = names(member);
    const bool named = mode == Mode::kStandalone || mode == Mode::kRelay;
    found.finding.summary = fmt::format("the database at {} is {}, not a member of a cluster",
                                        member.name(), named ? to_string(mode) : "not clustered");
    if (named)
      found.finding.evidence.push_back(
          {member.name(), fmt::format("_Server: model={}", to_string(mode))});
    if (!member.opinion->status_source.answered()) {
      found.finding.evidence.push_back(
          {member.name(), describe(member.opinion->status_source.reason)});
    }
    out.push_back(std::move(found));
  }
}

}  // namespace wardmote::judge::raft
