#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"
#include "judge/bgp/catalogue.h"
#include "judge/etcd/catalogue.h"
#include "judge/failover/catalogue.h"
#include "judge/finding.h"
#include "judge/guest/catalogue.h"

namespace wardmote::judge {
namespace {

using std::chrono::seconds;
using enum Severity;
using enum Code;

constexpr Window kAtOnce{};
constexpr Window kOneRound{.rounds = 1};
constexpr Window kTwoRounds{.rounds = 2};
constexpr Window fixed(seconds time) {
  return {.rounds = 0, .fixed = time};
}

/// The rows of BGP meshes and of guests follow (judge/bgp/catalogue.h, judge/guest/catalogue.h),
/// of etcd, and of failover pairs.
constexpr auto kFirst = std::to_array<CodeInfo>({
    {kRaftTwoLeadersSameTerm,
     "RAFT_TWO_LEADERS_SAME_TERM",
     kCritical,
     kAtOnce,
     {},
     "Two members lead the same cluster in the same term; raft forbids that.",
     "role, term and cluster id of every member",
     "Stop the clients that write, keep both databases, and find the member whose database was "
     "copied or restored."},
    {kRaftStaleLeader, "RAFT_STALE_LEADER", kWarning, kOneRound, kTwoRounds,
     "A member believes that it leads, but a later term exists or it hears no majority.",
     "its term against the highest term of the cluster; the ages of its followers' messages",
     "Check the network between this member and the others. Clients connected to it read old "
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
     "the newest voter list; which voters answer; which voters a leader hears",
     "Start the members that are down. Build a new cluster only as the page of this finding says."},
    {kRaftQuorumMargin,
     "RAFT_QUORUM_MARGIN",
     kWarning,
     kOneRound,
     {},
     "Exactly a majority is alive: the next failure stops all writes.",
     "live voters against the majority of the voter list",
     "Bring the missing member back, unless another finding says that it is gone for good."},
    {kRaftNoLeader,
     "RAFT_NO_LEADER",
     kCritical,
     kOneRound,
     {},
     "No member leads and none can name a leader.",
     "role and Leader: of every member",
     "If a majority is alive, check the raft network between the members and their election "
     "timers."},
    {kRaftLeaderDisagreement,
     "RAFT_LEADER_DISAGREEMENT",
     kCritical,
     kTwoRounds,
     {},
     "Members name different leaders in the same term, or a leader that is not in the list.",
     "Leader: and Term: of every member",
     "Compare the server lists and cluster ids of the members; one member's list differs from the "
     "leader's."},
    {kRaftTermDivergence,
     "RAFT_TERM_DIVERGENCE",
     kWarning,
     kTwoRounds,
     {},
     "A member stays in another term than the cluster: it is cut off or was removed.",
     "Term: of every member",
     "Check the raft port between this member and the leader in both directions."},
    {kRaftElectionStorm,
     "RAFT_ELECTION_STORM",
     kWarning,
     kTwoRounds,
     {},
     "Elections keep starting.",
     "ages of Last Election started; growth of the term",
     "Look for lost packets or a slow disk. A longer election timer may be needed."},
    {kRaftLeaderFlap,
     "RAFT_LEADER_FLAP",
     kWarning,
     fixed(seconds(0)),
     {},
     "The leader changed several times in a short time.",
     "the leader over time and the reasons of its elections",
     "Check the load and the disk of the members that lost leadership."},
    {kRaftVoteAnomaly,
     "RAFT_VOTE_ANOMALY",
     kInfo,
     kOneRound,
     {},
     "Votes do not add up: a candidate cannot win, or members voted for different servers.",
     "Vote: and (voted for …) of every member",
     "This is usually part of an election. Look at the other findings first."},
    {kRaftClusterIdMismatch,
     "RAFT_CLUSTER_ID_MISMATCH",
     kCritical,
     kAtOnce,
     {},
     "Members of one database belong to different clusters, each with its own data.",
     "Cluster ID: of every member",
     "Check that the member's sockets lead to the right server. If they do, keep all database "
     "files and follow the page of this finding."},
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
     "The server runs but no longer belongs to the cluster: it was kicked, has left, or does not "
     "finish leaving.",
     "its id and the newest member list; no database; Status: leaving or left cluster",
     "If it should be a member, join it again with a new database. If not, stop it."},
    {kRaftNoDatabase,
     "RAFT_NO_DATABASE",
     kCritical,
     kTwoRounds,
     {},
     "The server runs but does not serve the database, and nothing shows that it was removed from "
     "the cluster.",
     "unknown cluster, no row in _Server; the databases that it does serve",
     "Compare the configured name with the databases that the server has. Attach a detached "
     "database again, and keep its file."},
    {kRaftStaleMember,
     "RAFT_STALE_MEMBER",
     kCritical,
     kOneRound,
     {},
     "Two server ids are listed at one address: one of them is stale and still counts as a voter.",
     "the server lists; the id that the process at the address reports",
     "Make sure that the server at this address answers. Do not remove a server before the finding "
     "gives the command."},
    {kRaftDeadMember,
     "RAFT_DEAD_MEMBER",
     kWarning,
     fixed(seconds(10)),
     {},
     "A listed voter is heard by nobody and belongs to no configured member.",
     "its match_index and last msg at the leader; its connections",
     "Find out whether the server restarts or is lost. Do not remove it before the finding gives "
     "the command."},
    {kRaftZombieMember,
     "RAFT_ZOMBIE_MEMBER",
     kCritical,
     kTwoRounds,
     {},
     "A server that was removed from the cluster still runs on its old database.",
     "its id and the newest member list",
     "Copy its database aside, and find out who removed it. Then stop the server; if it should be "
     "a "
     "member, join it again with a new database."},
    {kRaftServerIdCloned,
     "RAFT_SERVER_ID_CLONED",
     kCritical,
     kAtOnce,
     {},
     "Two members answer with the same server id, or one member answers with two: sockets are "
     "mixed up, or a database was copied.",
     "Server ID: of every member",
     "Correct the sockets in the configuration. If two processes do run, stop the copy and join it "
     "as a new member."},
    {kRaftMemberListMismatch,
     "RAFT_MEMBER_LIST_MISMATCH",
     kWarning,
     kTwoRounds,
     {},
     "Members at the same log index hold different member lists.",
     "the server lists of members with the same applied index",
     "Compare the lists with the leader's. The database of one member is damaged or foreign."},
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
     "The cluster lists a member that was not expected and that is not alive.",
     "the member list and the expected addresses",
     "Correct the list of expected addresses if it is old. See RAFT_DEAD_MEMBER."},
    {kRaftMissingMember,
     "RAFT_MISSING_MEMBER",
     kWarning,
     kTwoRounds,
     {},
     "An expected address is in no member's list.",
     "the member list and the expected addresses",
     "Join the missing member, or correct the list of expected addresses."},
    {kRaftStaleHint,
     "RAFT_STALE_HINT",
     kWarning,
     kTwoRounds,
     {},
     "The list of expected addresses contradicts a member that is alive and healthy: the list is "
     "old.",
     "the expected addresses and the live members",
     "Correct the list of expected addresses. Never remove the live member."},
    {kRaftClusterSize,
     "RAFT_CLUSTER_SIZE",
     kWarning,
     kTwoRounds,
     {},
     "The number of voters is not the expected number, or it is one or even.",
     "the number of voters and the expected number",
     "Join what is missing, or correct the expected number. Remove nothing because of it."},
    {kRaftLogRolledBack,
     "RAFT_LOG_ROLLED_BACK",
     kCritical,
     kOneRound,
     {},
     "The log of a server ends before what it had committed: its disk was put back to an older "
     "copy.",
     "the end of its log, and what it had committed before",
     "Copy the databases of all servers aside before anything is started, stopped, removed or "
     "joined anew: a server that the list lacks may be the only one that has what was committed."},
    {kRaftLogLag,
     "RAFT_LOG_LAG",
     kWarning,
     kTwoRounds,
     {},
     "A follower is behind the leader's log and does not catch up soon.",
     "the follower's match_index and the leader's log over time",
     "Check the follower's disk and network."},
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
     "Check the load of this server."},
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
     fixed(seconds(12)),
     {},
     "A raft connection is up in one direction only.",
     "Connections: of both ends",
     "Check the firewalls: the raft port of one node is closed to the other."},
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
     "An unknown peer keeps a raft connection open and never identifies itself.",
     "connections <-0000 that no listed server can have opened",
     "Find the peer: often a member of another cluster, or a server that replaced a stale member."},
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
     "Check the process: it is stopped, waits for its disk, or is overloaded."},
    {kRaftMemberDown,
     "RAFT_MEMBER_DOWN",
     kCritical,
     kOneRound,
     {},
     "The member does not run, or stopped serving after an error.",
     "a refused or missing socket; its peers do not hear it",
     "Start the server; its log says why it ended."},
    {kRaftModeMismatch,
     "RAFT_MODE_MISMATCH",
     kCritical,
     kOneRound,
     {},
     "The database is standalone or a relay where a cluster member is expected.",
     "model, cluster id and server id in _Server; cluster/status unknown",
     "Start it with a clustered database, or correct the configuration."},
    {kRaftCrashLoop,
     "RAFT_CRASH_LOOP",
     kWarning,
     kAtOnce,
     {},
     "A member restarts again and again.",
     "sockets that refuse and then answer; counters that start again; a new server id",
     "Read the server's log to see why it ends."},
    {kRaftAgesRewound,
     "RAFT_AGES_REWOUND",
     kInfo,
     kAtOnce,
     {},
     "A member's ages jumped back: it was paused and resumed, or its clock jumped.",
     "the ages in two probes",
     "Look for a paused virtual machine or an overloaded node."},
    {kOvnNbSbDivergence,
     "OVN_NB_SB_DIVERGENCE",
     kInfo,
     kTwoRounds,
     {},
     "The northbound and southbound clusters do not match: different hosts, or only one of them is "
     "unhealthy.",
     "the members and leaders of both clusters",
     "Look at the unhealthy cluster. Leaders on different hosts are harmless."},
    {kCheckFailed,
     "CHECK_FAILED",
     kCritical,
     kAtOnce,
     {},
     "A check failed `fall` times in a row.",
     "the outcomes of the check's last probes",
     "Look at the reason that `wardmote get checks` shows, and at the thing that the check "
     "probes."},
    {kMonitorBlind,
     "MONITOR_BLIND",
     kCritical,
     fixed(seconds(60)),
     {},
     "Nothing has been known about this member or check for too long; it may be healthy or not.",
     "the reasons of the last probes",
     "Fix what stops the agent from probing: socket paths, permissions, or its own load."},
    {kNodeDown,
     "NODE_DOWN",
     kCritical,
     fixed(seconds(30)),
     {},
     "Nothing is heard of the agent on this node any more; the node, its network or the agent is "
     "down.",
     "that the agent's lease in the shared store has expired",
     "Look at the node, at its way to etcd, and at the agent there. A node that is gone for good: "
     "remove the records of its agent."},
});

template <std::size_t A, std::size_t B>
constexpr std::array<CodeInfo, A + B> together(const std::array<CodeInfo, A>& first,
                                               const std::array<CodeInfo, B>& second) {
  std::array<CodeInfo, A + B> all{};
  std::ranges::copy(first, all.begin());
  std::ranges::copy(second, all.begin() + A);
  return all;
}
constexpr auto kCatalogue = together(
    together(together(together(kFirst, bgp::kCatalogue), guest::kCatalogue), etcd::kCatalogue),
    failover::kCatalogue);

constexpr bool in_order_of_codes() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<std::size_t>(kCatalogue[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order_of_codes(), "the catalogue is indexed by code");
static_assert(static_cast<std::size_t>(kFailoverPaused) + 1 == kCatalogue.size(),
              "a code has no row");

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  const auto upper = [](char c) { return std::toupper(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, [&](char x, char y) { return upper(x) == upper(y); });
}

}  // namespace

Duration length(const Window& window, Duration round) noexcept {
  return window.rounds * round + window.fixed;
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
