#include "unit/judge/raft/well_told.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// What the evidence of a finding must quote, by the section "Evidence" of its page.
struct Proof {
  Code code;
  std::size_t witnesses;  ///< at least so many quotations
  std::vector<std::string_view> quotes;
};

std::span<const Proof> proofs() {
  static const std::vector<Proof> kProofs = {
      {kRaftTwoLeadersSameTerm, 2, {"Role: leader", "Term: ", "Cluster ID: "}},
      {kRaftStaleLeader, 2, {"Role: leader", "Term: "}},
      {kRaftFailedLeader, 1, {"Status: failed", "Role: leader"}},
      {kRaftNoLeader, 1, {"Role: ", "Term: ", "Leader: "}},
      {kRaftLeaderDisagreement, 2, {"Term: ", "Leader: "}},
      {kRaftTermDivergence, 2, {"Role: ", "Term: "}},
      {kRaftElectionStorm, 1, {"Status: ", "Term: ", "lection started"}},
      {kRaftLeaderFlap, 4, {"became leader (", " in term "}},
      {kRaftVoteAnomaly, 2, {"Term: ", "Vote: "}},
      {kRaftClusterIdMismatch, 1, {"Cluster ID: "}},
      {kRaftJoiningStuck, 1, {"Status: joining cluster", "Remotes for joining:"}},
      {kRaftZombieMember, 2, {"Server ID: ", "Status: ", "Servers: "}},
      {kRaftServerIdCloned, 2, {"Server ID: ", "Address: "}},
      {kRaftMemberListMismatch, 4, {"Log: ", "Servers: "}},
      {kRaftUnexpectedMember, 2, {"expected: "}},
      {kRaftMissingMember, 2, {"expected: ", "Servers: "}},
      {kRaftStaleHint, 2, {"expected: ", "Servers: "}},
      {kRaftClusterSize, 1, {"Servers: "}},
      {kRaftLogLag, 2, {"Log: "}},
      {kRaftCommitStall, 1, {"Log: ", "Entries not yet committed: "}},
      {kRaftApplyStall, 1, {"Entries not yet committed: ", "Entries not yet applied: "}},
      {kRaftLogGrowth, 1, {"Log: "}},
      {kRaftLinkAsymmetric, 1, {"Connections:"}},
      {kRaftOneWaySilence, 2, {" last msg "}},
      {kRaftConnectionChurn, 1, {"Disconnections: ", "Connections:"}},
      {kRaftUnidentifiedPeer, 2, {"Connections:", "Servers: "}},
      {kRaftElectionTimerMismatch, 1, {"Election timer: "}},
  };
  return kProofs;
}

/// Cluster-wide findings name nobody.
bool names_nobody(Code code) {
  return code == kRaftNoQuorum || code == kRaftQuorumMargin || code == kRaftNoLeader ||
         code == kRaftClusterSize;
}

/// Who gives no status is quoted by its row in _Server, or by the reason of its silence.
bool quotes_less(const Finding& finding, std::span<const Opinion> opinions) {
  return std::ranges::any_of(finding.evidence, [&](const Evidence& evidence) {
    const auto by = std::ranges::find(opinions, evidence.by, &Opinion::member);
    return by != opinions.end() && !by->status;
  });
}

void expect_proven(const Finding& finding) {
  const std::span<const Proof> all = proofs();
  const auto proof = std::ranges::find(all, finding.code, &Proof::code);
  if (proof == all.end()) return;
  EXPECT_GE(finding.evidence.size(), proof->witnesses) << finding.summary;
  std::string said;
  for (const Evidence& evidence : finding.evidence) said += evidence.says + "\n";
  for (const std::string_view quote : proof->quotes)
    EXPECT_TRUE(said.contains(quote)) << finding.summary << ": no '" << quote << "' in\n" << said;
}

void expect_well_told(const Finding& finding, std::span<const Opinion> opinions, TimePoint now) {
  SCOPED_TRACE(to_string(finding.code));
  EXPECT_FALSE(finding.summary.empty());
  EXPECT_EQ(finding.subjects.empty(), names_nobody(finding.code)) << finding.summary;
  EXPECT_LE(finding.since, now) << finding.summary;
  EXPECT_TRUE(finding.advice && !finding.advice->text.empty()) << finding.summary;
  EXPECT_FALSE(finding.evidence.empty()) << finding.summary;
  for (const Evidence& evidence : finding.evidence) {
    EXPECT_FALSE(evidence.says.empty()) << finding.summary;
    const bool known = evidence.by == "configuration" ||
                       std::ranges::find(opinions, evidence.by, &Opinion::member) != opinions.end();
    EXPECT_TRUE(known) << evidence.by;
  }
  if (!quotes_less(finding, opinions)) expect_proven(finding);
}

}  // namespace

void expect_well_told(const Assessment& told, std::span<const Opinion> opinions, TimePoint now) {
  for (const Finding& finding : told.findings) expect_well_told(finding, opinions, now);
  EXPECT_TRUE(std::ranges::is_sorted(told.findings, std::ranges::greater(), &Finding::severity))
      << "the most severe comes first";
}

}  // namespace wardmote::judge::raft
