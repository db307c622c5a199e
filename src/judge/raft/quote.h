#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"

namespace wardmote::judge::raft {

/// A line of `cluster/status`.
enum class Line : std::uint8_t {
  kClusterId,
  kServerId,
  kAddress,
  kStatus,
  kRemotes,
  kRole,
  kTerm,
  kLeader,
  kLog,
  kUncommitted,
  kUnapplied,
  kVote,
  kElection,
  kElectionTimer,
  kConnections,
  kDisconnections,
};

/// The line as OVSDB prints it, rebuilt from the typed fields; several are joined by `; `. Not
/// escaped: it may contain a peer's text.
std::string quote(const Status& status, std::initializer_list<Line> lines);
/// A line of the server list.
std::string quote(const Server& server);
/// The row of `_Server.Database`.
std::string quote(const Local& local);
/// The whole server list in short: `dea6 at tcp:10.0.0.1:6643, …`.
std::string quote_list(const Status& status);

/// The member's report in these lines if it gives its status, else its local view, else the reason
/// for its silence.
Evidence testify(const Member& member, std::initializer_list<Line> lines);
/// The line of the server in the leader's list, else in the newest one; empty when the list is only
/// remembered.
std::vector<Evidence> testify(const ClusterSnapshot& snapshot, const ListedServer& listed);

/// Every name of the thing: member name, server id, address; unknown ones are left out.
std::vector<std::string> names(const Member& member);
std::vector<std::string> names(const ListedServer& listed);

/// For sentences: `ctl-2 (499b)`, `499b`.
std::string label(const Member& member);
std::string label(const ListedServer& listed);

/// `cannot be reached (refused)`: why a member does not answer.
std::string describe(const Reason& reason);

}  // namespace wardmote::judge::raft
