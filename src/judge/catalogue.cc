#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"
#include "judge/finding.h"

namespace wardmote::judge {
namespace {

using std::chrono::seconds;
using enum Severity;
using enum Code;

constexpr Window kAtOnce{};
constexpr Window kOneRound{.election_rounds = 1};
constexpr Window kTwoRounds{.election_rounds = 2};
constexpr Window fixed(seconds time) {
  return {.election_rounds = 0, .fixed = time};
}

constexpr auto kCatalogue = std::to_array<CodeInfo>({
    {kRaftTwoLeadersSameTerm,
     "RAFT_TWO_LEADERS_SAME_TERM",
     kCritical,
     kAtOnce,
     {},
     "Two members lead the same cluster in the same term; raft forbids that.",
     "role, term and cluster id of every member",
     "Stop writes, keep both databases, and find the member whose database was copied or "
     "restored."},
    {kRaftStaleLeader, "RAFT_STALE_LEADER", kWarning, kOneRound, kTwoRounds,
     "A member believes that it leads, but a later term exists or it hears no majority.",
     "its term against the highest term of the cluster; the ages of its followers' messages",
     "Check the network between this member and the others; clients connected to it read old "
     "data."},
    {kRaftFailedLeader,
     "RAFT_FAILED_LEADER",
     kCritical,
     kAtOnce,
     {},
     "The leader stopped serving after an I/O error and still calls itself leader.",
     "Status: failed with Role: leader; _Server says leader and not connected",
     "Free disk space or repair the disk, then restart this server."},
    {kRaftNoQuorum,
     "RAFT_NO_QUORUM",
     kCritical,
     kOneRound,
     {},
     "Fewer voters are alive than a majority needs: nothing can be written.",
     "the voter list of the newest view; who answers; whom a leader hears",
     "Start the members that are down. If they are lost for good, no kick can work without a "
     "quorum: recover from one "
     "member with ovsdb-tool cluster-to-standalone and build a new cluster."},
    {kRaftQuorumMargin,
     "RAFT_QUORUM_MARGIN",
     kWarning,
     kOneRound,
     {},
     "Exactly a majority is alive: the next failure stops all writes.",
     "live voters against the majority of the voter list",
     "Bring the missing member back, or remove voters that no longer exist."},
    {kRaftNoLeader,
     "RAFT_NO_LEADER",
     kCritical,
     kOneRound,
     {},
     "No member leads and none can name a leader.",
     "role and Leader: of every member",
     "If a majority is alive, look at the raft network between the members and at their election "
     "timers."},
    {kRaftLeaderDisagreement,
     "RAFT_LEADER_DISAGREEMENT",
     kCritical,
     kTwoRounds,
     {},
     "Members name different leaders in the same term, or a leader that is not in the list.",
     "Leader: and Term: of every member",
     "Compare the members' server lists; one of them belongs to another history."},
    {kRaftTermDivergence,
     "RAFT_TERM_DIVERGENCE",
     kWarning,
     kTwoRounds,
     {},
     "A member stays at another term than the cluster: it is cut off or was removed.",
     "Term: of every member",
     "Check the raft port between this member and the leader in both directions."},
    {kRaftElectionStorm,
     "RAFT_ELECTION_STORM",
     kWarning,
     kTwoRounds,
     {},
     "Elections keep starting.",
     "ages of Last Election started; growth of the term",
     "Look for lost packets or a slow disk; a longer election timer may be needed."},
    {kRaftLeaderFlap,
     "RAFT_LEADER_FLAP",
     kWarning,
     fixed(seconds(0)),
     {},
     "The leader changed several times in a short time.",
     "the leader over time and the reasons of its elections",
     "Look at the load and the disk of the members that lost leadership."},
    {kRaftVoteAnomaly,
     "RAFT_VOTE_ANOMALY",
     kInfo,
     kOneRound,
     {},
     "Votes do not add up: a candidate cannot win, or members voted for different servers.",
     "Vote: and (voted for …) of every member",
     "Usually part of an election; look at the other findings first."},
    {kRaftClusterIdMismatch,
     "RAFT_CLUSTER_ID_MISMATCH",
     kCritical,
     kAtOnce,
     {},
     "Members of one database belong to different clusters: there are two histories.",
     "Cluster ID: of every member",
     "Decide which cluster holds the data; wipe the other members' databases and join them to it."},
    {kRaftJoiningStuck,
     "RAFT_JOINING_STUCK",
     kCritical,
     fixed(seconds(30)),
     {},
     "A member has been joining for too long.",
     "Status: joining cluster; its remotes; whether the leader is adding it",
     "Check that the addresses under 'Remotes for joining' are reachable from this member and "
     "serve this cluster."},
    {kRaftMemberRemoved,
     "RAFT_MEMBER_REMOVED",
     kCritical,
     kTwoRounds,
     {},
     "The server runs but no longer belongs to the cluster: it was kicked, has left, or is leaving "
     "without end.",
     "unknown cluster, no row in _Server, or Status: leaving or left cluster",
     "If it should belong to the cluster, remove its database file and join it again; else stop "
     "it."},
    {kRaftStaleMember,
     "RAFT_STALE_MEMBER",
     kCritical,
     kOneRound,
     {},
     "Two server ids are listed at one address: the older one is a ghost that counts as a voter.",
     "the server lists; the id that the process at the address reports",
     "Kick the ghost from the leader."},
    {kRaftDeadMember,
     "RAFT_DEAD_MEMBER",
     kWarning,
     fixed(seconds(10)),
     {},
     "A listed voter answers nobody and belongs to no configured member.",
     "match_index and last msg at the leader; connections in parentheses",
     "If the server is gone for good, kick it from the leader."},
    {kRaftZombieMember,
     "RAFT_ZOMBIE_MEMBER",
     kCritical,
     kTwoRounds,
     {},
     "A server that was removed from the cluster still runs on its old database and asks for "
     "votes.",
     "its id against the newest member list",
     "Stop it, remove its database file, and join it again if it is wanted."},
    {kRaftServerIdCloned,
     "RAFT_SERVER_ID_CLONED",
     kCritical,
     kAtOnce,
     {},
     "Two processes run with the same server id: a database file was copied.",
     "Server ID: of every member",
     "Stop the copy, remove its database file, and join it as a new member."},
    {kRaftMemberListMismatch,
     "RAFT_MEMBER_LIST_MISMATCH",
     kWarning,
     kTwoRounds,
     {},
     "Members at the same log index hold different member lists.",
     "the server lists of members with equal applied index",
     "One of them has a damaged or foreign database; compare the lists with the leader's."},
    {kRaftAddressMismatch,
     "RAFT_ADDRESS_MISMATCH",
     kWarning,
     kTwoRounds,
     {},
     "One server is known at different addresses.",
     "the address in each list and the server's own",
     "Check DNS and the configured addresses; rejoin the member at the right one."},
    {kRaftUnexpectedMember,
     "RAFT_UNEXPECTED_MEMBER",
     kWarning,
     kTwoRounds,
     {},
     "The cluster lists a member that was not expected and does not live.",
     "the member list against the expected addresses",
     "See RAFT_DEAD_MEMBER; correct the list of expected addresses if it is old."},
    {kRaftMissingMember,
     "RAFT_MISSING_MEMBER",
     kWarning,
     kTwoRounds,
     {},
     "An expected address is in no member's list.",
     "the member list against the expected addresses",
     "Join the missing member, or correct the list of expected addresses."},
    {kRaftStaleHint,
     "RAFT_STALE_HINT",
     kWarning,
     kTwoRounds,
     {},
     "The list of expected addresses contradicts a member that is alive and healthy: the list is "
     "old.",
     "the expected addresses against live members",
     "Correct the list of expected addresses. Never remove the live member for it."},
    {kRaftClusterSize,
     "RAFT_CLUSTER_SIZE",
     kWarning,
     kTwoRounds,
     {},
     "The cluster has more or fewer voters than expected, or a number that tolerates no more "
     "failures than one less.",
     "the number of voters against the expected number",
     "Remove ghosts or add members until the number is odd and as expected."},
    {kRaftLogLag,
     "RAFT_LOG_LAG",
     kWarning,
     kTwoRounds,
     {},
     "A follower is behind the leader's log and does not catch up soon.",
     "match_index against the leader's log over time",
     "Look at the follower's disk and network."},
    {kRaftCommitStall,
     "RAFT_COMMIT_STALL",
     kCritical,
     kTwoRounds,
     {},
     "The leader holds entries that it cannot commit.",
     "Entries not yet committed and the committed index over time",
     "Find out which followers do not acknowledge."},
    {kRaftApplyStall,
     "RAFT_APPLY_STALL",
     kWarning,
     kTwoRounds,
     {},
     "A member holds committed entries that it does not apply.",
     "Entries not yet applied over time",
     "Look at the load of this server."},
    {kRaftLogGrowth,
     "RAFT_LOG_GROWTH",
     kInfo,
     fixed(seconds(60)),
     {},
     "The log grows without being compacted.",
     "Log: [start, next]",
     "Compact the database (ovsdb-server/compact)."},
    {kRaftLinkAsymmetric,
     "RAFT_LINK_ASYMMETRIC",
     kWarning,
     kTwoRounds,
     {},
     "A raft connection is up in one direction only.",
     "Connections: of both ends",
     "Check firewalls: one node's raft port is closed to the other."},
    {kRaftOneWaySilence,
     "RAFT_ONE_WAY_SILENCE",
     kWarning,
     kTwoRounds,
     {},
     "Messages arrive in one direction only.",
     "last msg of both ends",
     "Check the network between the two in both directions."},
    {kRaftConnectionChurn,
     "RAFT_CONNECTION_CHURN",
     kWarning,
     fixed(seconds(60)),
     {},
     "Raft connections keep breaking.",
     "Disconnections: over time",
     "Look for packet loss, load, and inactivity probes that are too short."},
    {kRaftUnidentifiedPeer,
     "RAFT_UNIDENTIFIED_PEER",
     kWarning,
     kTwoRounds,
     {},
     "Somebody keeps a raft connection open and never says who it is.",
     "<-0000 where all other peers are identified",
     "Find the foreign sender: often a member of another cluster or a ghost's successor."},
    {kRaftElectionTimerMismatch,
     "RAFT_ELECTION_TIMER_MISMATCH",
     kWarning,
     kTwoRounds,
     {},
     "Members run with different election timers, or a change of the timer does not end.",
     "Election timer: of every member",
     "Set the timer again on the leader (cluster/change-election-timer)."},
    {kRaftMemberHung,
     "RAFT_MEMBER_HUNG",
     kCritical,
     kOneRound,
     {},
     "The member accepts connections and answers nothing.",
     "the time without an answer; the ages that its peers report",
     "Look at the process: stopped, waiting for its disk, or overloaded."},
    {kRaftMemberDown,
     "RAFT_MEMBER_DOWN",
     kCritical,
     kOneRound,
     {},
     "The member does not run, or stopped serving after an error.",
     "refused or missing socket; its peers do not hear it",
     "Start the server; its log says why it ended."},
    {kRaftModeMismatch,
     "RAFT_MODE_MISMATCH",
     kCritical,
     kOneRound,
     {},
     "The database is standalone or a relay where a cluster member is expected.",
     "model, cluster id and server id in _Server; cluster/status unknown",
     "Start it with a clustered database, or correct the configuration."},
    {kRaftAgesRewound,
     "RAFT_AGES_REWOUND",
     kInfo,
     kAtOnce,
     {},
     "A member's ages jumped back: it was paused and resumed, or its clock jumped.",
     "ages between two looks",
     "Look for a paused virtual machine or a starved node."},
    {kMonitorBlind,
     "MONITOR_BLIND",
     kCritical,
     fixed(seconds(60)),
     {},
     "Nothing is known of this subject for too long; that is neither good nor bad news.",
     "the reasons of the last looks",
     "Mend what keeps the agent from looking: socket paths, permissions, its own load."},
    {kOvnNbSbDivergence,
     "OVN_NB_SB_DIVERGENCE",
     kInfo,
     kTwoRounds,
     {},
     "The northbound and southbound clusters do not match: different hosts, or only one of them is "
     "ill.",
     "the members and leaders of both clusters",
     "Look at the ill one; leaders on different hosts are harmless."},
    {kCheckFailed,
     "CHECK_FAILED",
     kCritical,
     kAtOnce,
     {},
     "A check failed so many times in a row that it is believed.",
     "the outcomes of the check's last looks",
     "Look at the reason that `wardmote get checks` shows, and at the thing itself."},
});

constexpr bool in_order_of_codes() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<std::size_t>(kCatalogue[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order_of_codes(), "the catalogue is indexed by code");
static_assert(static_cast<std::size_t>(kCheckFailed) + 1 == kCatalogue.size(), "a code has no row");

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  const auto upper = [](char c) { return std::toupper(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, [&](char x, char y) { return upper(x) == upper(y); });
}

}  // namespace

Duration length(const Window& window, std::chrono::milliseconds election_timer) noexcept {
  return window.election_rounds * (election_timer + seconds(1)) + window.fixed;
}

std::span<const CodeInfo> catalogue() noexcept {
  return kCatalogue;
}

const CodeInfo& info(Code code) noexcept {
  return kCatalogue[static_cast<std::size_t>(code)];
}

std::optional<Code> parse_code(std::string_view name) noexcept {
  for (const CodeInfo& row : kCatalogue) {
    if (equal_ignoring_case(row.name, name)) return row.code;
  }
  return std::nullopt;
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case kInfo: return "info";
    case kWarning: return "warning";
    case kCritical: return "critical";
  }
  return "info";
}

std::string_view to_string(Code code) noexcept {
  return info(code).name;
}

}  // namespace wardmote::judge
