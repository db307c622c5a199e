#include "judge/raft/assess.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/address.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/dialect.h"
#include "judge/raft/history.h"
#include "judge/raft/member_verdict.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/suppressions.h"
#include "judge/verdict.h"

namespace wardmote::judge::raft {
namespace {

struct Row {
  Code code;
  Detector detect;
};

constexpr auto kDetectors = std::to_array<Row>({
    {Code::kRaftTwoLeadersSameTerm, detect_two_leaders_same_term},
    {Code::kRaftStaleLeader, detect_stale_leader},
    {Code::kRaftFailedLeader, detect_failed_leader},
    {Code::kRaftNoQuorum, detect_no_quorum},
    {Code::kRaftQuorumMargin, detect_quorum_margin},
    {Code::kRaftNoLeader, detect_no_leader},
    {Code::kRaftLeaderDisagreement, detect_leader_disagreement},
    {Code::kRaftTermDivergence, detect_term_divergence},
    {Code::kRaftElectionStorm, detect_election_storm},
    {Code::kRaftLeaderFlap, detect_leader_flap},
    {Code::kRaftVoteAnomaly, detect_vote_anomaly},
    {Code::kRaftClusterIdMismatch, detect_cluster_id_mismatch},
    {Code::kRaftJoiningStuck, detect_joining_stuck},
    {Code::kRaftMemberRemoved, detect_member_removed},
    {Code::kRaftNoDatabase, detect_no_database},
    {Code::kRaftStaleMember, detect_stale_member},
    {Code::kRaftDeadMember, detect_dead_member},
    {Code::kRaftZombieMember, detect_zombie_member},
    {Code::kRaftServerIdCloned, detect_server_id_cloned},
    {Code::kRaftMemberListMismatch, detect_member_list_mismatch},
    {Code::kRaftAddressMismatch, detect_address_mismatch},
    {Code::kRaftUnexpectedMember, detect_unexpected_member},
    {Code::kRaftMissingMember, detect_missing_member},
    {Code::kRaftStaleHint, detect_stale_hint},
    {Code::kRaftClusterSize, detect_cluster_size},
    {Code::kRaftLogRolledBack, detect_log_rolled_back},
    {Code::kRaftLogLag, detect_log_lag},
    {Code::kRaftCommitStall, detect_commit_stall},
    {Code::kRaftApplyStall, detect_apply_stall},
    {Code::kRaftLogGrowth, detect_log_growth},
    {Code::kRaftLinkAsymmetric, detect_link_asymmetric},
    {Code::kRaftOneWaySilence, detect_one_way_silence},
    {Code::kRaftConnectionChurn, detect_connection_churn},
    {Code::kRaftUnidentifiedPeer, detect_unidentified_peer},
    {Code::kRaftElectionTimerMismatch, detect_election_timer_mismatch},
    {Code::kRaftMemberHung, detect_member_hung},
    {Code::kRaftMemberDown, detect_member_down},
    {Code::kRaftModeMismatch, detect_mode_mismatch},
    {Code::kRaftCrashLoop, detect_crash_loop},
    {Code::kRaftAgesRewound, detect_ages_rewound},
    {Code::kMonitorBlind, detect_monitor_blind},
});

/// Whether this round shows nothing about the thing: its member gave no answer that can be judged,
/// and nobody else hears it; or, for a thing that is no member, the agent had too few resources to
/// see everything.
bool is_blind_to(const ClusterSnapshot& snapshot, std::string_view key) noexcept {
  for (const Member& member : snapshot.members) {
    if (member.name() != key) continue;
    const ListedServer* const listed = member.listed;
    const bool heard = member.heard || (listed && (listed->heard || listed->witnessed));
    return member.presence == Presence::kUnknown && !heard;
  }
  return snapshot.starved;
}

void run(const Row& row, const ClusterSnapshot& snapshot, Conditions& out) {
  const std::size_t before = out.size();
  row.detect(snapshot, out);
  for (std::size_t i = before; i < out.size(); ++i) {
    check(out[i].finding.code == row.code, "a detector tells of another row's condition");
  }
}

/// Fewer members answer than a majority, and none of them hears a leader. An election among a
/// majority is a legal transient; this need not be one.
bool is_in_doubt(const ClusterSnapshot& snapshot) noexcept {
  if (anybody_has_leader(snapshot)) return false;
  const auto serving = std::ranges::count_if(
      snapshot.members, [](const Member& member) { return member.takes_part() && !member.failed; });
  const std::size_t known = snapshot.quorum.needed;
  const std::size_t majority = known > 0 ? known : snapshot.members.size() / 2 + 1;
  return std::cmp_less(serving, majority);
}

Verdict sum_up(const ClusterSnapshot& snapshot, const std::vector<Finding>& findings) noexcept {
  const auto is_bad_news = [](const Finding& finding) {
    return finding.severity == Severity::kCritical && finding.code != Code::kMonitorBlind;
  };
  if (std::ranges::any_of(findings, is_bad_news)) return Verdict::kCritical;
  if (!snapshot.anybody_takes_part()) return Verdict::kUnknown;
  const bool worse_than_info =
      !findings.empty() && findings.front().severity != Severity::kInfo;  // most severe first
  // The condition lasts until somebody grants the right, so nobody should wait for a window.
  const bool closed_to_us = std::ranges::any_of(snapshot.members, [](const Member& member) {
    const ReasonCode why = member.opinion->silence().code;
    return member.presence == Presence::kUnknown &&
           (why == ReasonCode::kDenied || why == ReasonCode::kUntrusted);
  });
  const bool warns = worse_than_info || closed_to_us || is_in_doubt(snapshot);
  return warns ? Verdict::kWarning : Verdict::kOk;
}

/// The hosts of the voters; unix sockets have none.
std::vector<std::string> hosts_of(const ClusterSnapshot& snapshot) {
  std::vector<std::string> hosts;
  for (const ListedServer& listed : snapshot.servers) {
    if (listed.voter && !listed.address.empty() && !listed.address.starts_with("unix:"))
      hosts.emplace_back(host_of(listed.address));
  }
  std::ranges::sort(hosts);
  const auto repeated = std::ranges::unique(hosts);
  hosts.erase(repeated.begin(), repeated.end());
  return hosts;
}

/// Identifies everybody, so that a name does not change when its bearer falls silent.
void name_all(const ClusterSnapshot& snapshot, Assessment& assessment) {
  assessment.cluster_id = snapshot.cluster_id;
  assessment.ids.resize(snapshot.members.size());
  for (const Member& member : snapshot.members) assessment.ids[member.index] = member.id;
  assessment.servers.reserve(snapshot.servers.size());
  for (const ListedServer& listed : snapshot.servers)
    assessment.servers.push_back({listed.id, std::string(listed.address)});
}

/// Whoever starts or joins a server where a log went back mixes two histories for good.
void put_copies_first(const ClusterSnapshot& snapshot, std::vector<Finding>& findings) {
  const Track* const track = snapshot.history->rolled_back();
  if (track == nullptr) return;
  for (Finding& finding : findings) {
    if (finding.code == Code::kRaftLogRolledBack || !finding.advice) continue;
    finding.advice->text = fmt::format(
        "Before you start, stop or change anything, copy the databases of all servers aside: the "
        "log of {} went back. {}",
        track->member, finding.advice->text);
    finding.advice->command.clear();
  }
}

}  // namespace

Assessment assess(std::span<const Opinion> opinions, const Expectation& expectation, Memory& memory,
                  TimePoint now) {
  ClusterSnapshot snapshot = take_snapshot(opinions, expectation, memory, now);
  memory.history().note(snapshot);
  snapshot.history = &memory.history();
  Conditions conditions;
  for (const Row& row : kDetectors) run(row, snapshot, conditions);

  const Look look{.now = now,
                  .round = snapshot.round(),
                  .blind_to = [&](std::string_view key) { return is_blind_to(snapshot, key); },
                  .suppressions = suppressions(),
                  .advice = snapshot.dialect->advice};
  ConditionReport report = memory.conditions().update(std::move(conditions), look);

  Assessment assessment;
  assessment.verdict = sum_up(snapshot, report.findings);
  assessment.findings = std::move(report.findings);
  put_copies_first(snapshot, assessment.findings);
  assessment.observed = std::move(report.observed);
  assessment.members = judge_members(snapshot);
  assessment.quorum = snapshot.quorum;
  assessment.hosts = hosts_of(snapshot);
  if (snapshot.leader) {
    assessment.leader = snapshot.leader->index;
    assessment.leader_host = host_of(snapshot.leader->address);
  }
  name_all(snapshot, assessment);
  memory.learn(snapshot);
  return assessment;
}

}  // namespace wardmote::judge::raft
