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
#include "base/time.h"
#include "judge/finding.h"
#include "judge/raft/address.h"
#include "judge/raft/detect/detectors.h"
#include "judge/raft/docket.h"
#include "judge/raft/member_verdict.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"

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
    {Code::kRaftAgesRewound, detect_ages_rewound},
    {Code::kMonitorBlind, detect_monitor_blind},
});

/// Whether this look shows nothing of the thing: its member said nothing that we could judge, or,
/// for what no member's name stands for, we were too starved to see all.
bool is_blind_to(const Picture& picture, std::string_view key) noexcept {
  for (const Member& member : picture.members) {
    if (member.name() == key) return member.presence == Presence::kUnknown && !member.heard;
  }
  return picture.starved;
}

void run(const Row& row, const Picture& picture, Conditions& out) {
  const std::size_t before = out.size();
  row.detect(picture, out);
  for (std::size_t i = before; i < out.size(); ++i) {
    check(out[i].finding.code == row.code, "a detector tells of another row's condition");
  }
}

Verdict sum_up(const Picture& picture, const std::vector<Finding>& findings) noexcept {
  const auto is_bad_news = [](const Finding& finding) {
    return finding.severity == Severity::kCritical && finding.code != Code::kMonitorBlind;
  };
  if (std::ranges::any_of(findings, is_bad_news)) return Verdict::kCritical;
  if (!picture.anybody_takes_part()) return Verdict::kUnknown;
  const bool worse_than_info =
      !findings.empty() && findings.front().severity != Severity::kInfo;  // most severe first
  return worse_than_info ? Verdict::kWarning : Verdict::kOk;
}

/// The hosts of the voters; sockets in the file system have none.
std::vector<std::string> hosts_of(const Picture& picture) {
  std::vector<std::string> hosts;
  for (const Seat& seat : picture.seats) {
    if (seat.voter && !seat.address.empty() && !seat.address.starts_with("unix:"))
      hosts.emplace_back(host_of(seat.address));
  }
  std::ranges::sort(hosts);
  const auto repeated = std::ranges::unique(hosts);
  hosts.erase(repeated.begin(), repeated.end());
  return hosts;
}

}  // namespace

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kWarning: return "warning";
    case Verdict::kCritical: return "critical";
    case Verdict::kUnknown: return "unknown";
  }
  return "unknown";
}

Assessment assess(std::span<const Opinion> opinions, const Expectation& expectation, Memory& memory,
                  TimePoint now) {
  Picture picture = draw(opinions, expectation, memory, now);
  memory.history().note(picture);
  picture.history = &memory.history();
  Conditions conditions;
  for (const Row& row : kDetectors) run(row, picture, conditions);

  const Look look{.now = now,
                  .election_timer = picture.election_timer,
                  .blind_to = [&](std::string_view key) { return is_blind_to(picture, key); }};
  Ruling ruling = memory.docket().weigh(std::move(conditions), look);

  Assessment assessment;
  assessment.verdict = sum_up(picture, ruling.findings);
  assessment.findings = std::move(ruling.findings);
  assessment.observed = std::move(ruling.observed);
  assessment.members = judge_members(picture);
  assessment.quorum = picture.quorum;
  assessment.hosts = hosts_of(picture);
  if (picture.leader) {
    assessment.leader = picture.leader->index;
    assessment.leader_host = host_of(picture.leader->address);
  }
  memory.learn(picture);
  return assessment;
}

}  // namespace wardmote::judge::raft
