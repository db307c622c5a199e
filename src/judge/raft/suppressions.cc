#include "judge/raft/suppressions.h"

#include <array>
#include <span>

#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;
using enum Suppression::Scope;
using enum Suppression::From;
using enum Suppression::Afterwards;

constexpr auto kSuppressions = std::to_array<Suppression>({
    {kRaftNoQuorum, kRaftNoLeader, kWhole},
    {kRaftNoQuorum, kRaftQuorumMargin, kWhole},
    {kRaftNoQuorum, kRaftStaleLeader, kWhole},
    {kRaftNoQuorum, kRaftCommitStall, kWhole},
    {kRaftFailedLeader, kRaftStaleLeader, kSameThing},
    {kRaftFailedLeader, kRaftTermDivergence, kSameThing},
    {kRaftFailedLeader, kRaftCommitStall, kSameThing},
    {kRaftServerIdCloned, kRaftTwoLeadersSameTerm, kSameThing},
    {kRaftTwoLeadersSameTerm, kRaftLeaderDisagreement, kWhole},
    {kRaftStaleLeader, kRaftTermDivergence, kSameThing},
    {kRaftLogRolledBack, kRaftZombieMember, kWhole},
    {kRaftZombieMember, kRaftTermDivergence, kSameThing},
    {kRaftMemberDown, kRaftTermDivergence, kSameThing},
    {kRaftMemberDown, kMonitorBlind, kSameThing, kRaised},
    {kRaftMemberHung, kMonitorBlind, kSameThing, kRaised},
    {kRaftStaleMember, kRaftDeadMember, kSameThing},
    {kRaftStaleMember, kRaftUnexpectedMember, kSameThing},
    {kRaftStaleMember, kRaftUnidentifiedPeer, kWhole},
    {kRaftStaleMember, kRaftLinkAsymmetric, kSameThing, kSeen, kWindowAnew},
    {kRaftCrashLoop, kRaftLinkAsymmetric, kSameThing, kSeen, kWindowAnew},
    {kRaftCrashLoop, kRaftConnectionChurn, kWhole},
    {kRaftClusterIdMismatch, kRaftUnidentifiedPeer, kWhole},
    {kRaftNoQuorum, kRaftElectionStorm, kWhole, kSeen, kWindowAnew},
    {kRaftNoLeader, kRaftElectionStorm, kWhole, kRaised, kWindowAnew},
    {kRaftTermDivergence, kRaftElectionStorm, kSameThing, kRaised, kWindowAnew},
    {kRaftLeaderFlap, kRaftElectionStorm, kSameThing, kRaised, kWindowAnew},
    {kRaftOneWaySilence, kRaftElectionStorm, kSameThing, kRaised, kWindowAnew},
    {kRaftNoQuorum, kRaftVoteAnomaly, kWhole},
    {kRaftNoLeader, kRaftVoteAnomaly, kWhole, kRaised},
    {kRaftElectionStorm, kRaftVoteAnomaly, kSameThing},
    {kRaftTermDivergence, kRaftVoteAnomaly, kSameThing},
    {kRaftTwoLeadersSameTerm, kRaftVoteAnomaly, kWhole},
    {kRaftNoQuorum, kRaftLogLag, kWhole},
    {kRaftCommitStall, kRaftLogLag, kWhole},
    {kRaftOneWaySilence, kRaftLogLag, kSameThing},
    {kRaftLinkAsymmetric, kRaftOneWaySilence, kSameThing},
    {kRaftNoQuorum, kRaftElectionTimerMismatch, kWhole},
    {kRaftCommitStall, kRaftElectionTimerMismatch, kWhole},
    {kRaftLogLag, kRaftElectionTimerMismatch, kSameThing},
    {kRaftAddressMismatch, kRaftMemberListMismatch, kSameThing},
});

}  // namespace

std::span<const Suppression> suppressions() noexcept {
  return kSuppressions;
}

}  // namespace wardmote::judge::raft
