#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "judge/finding.h"
#include "judge/raft/picture.h"

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

/// The line as OVSDB prints it, rebuilt from the typed fields; several are joined by `; `. Raw: it
/// may hold a peer's text.
std::string quote(const Status& status, std::initializer_list<Line> lines);
/// A line of the server list.
std::string quote(const Server& server);
/// The row of `_Server.Database`.
std::string quote(const Local& local);
/// The whole server list in short: `dea6 at tcp:10.0.0.1:6643, …`.
std::string quote_list(const Status& status);

/// What the member says, in these lines if it gives its status, else its local view, else why it is
/// silent.
Evidence testify(const Member& member, std::initializer_list<Line> lines);
/// What the leader's list, else the newest, says of the server; nothing to quote when the list is
/// only remembered.
std::vector<Evidence> testify(const Picture& picture, const Seat& seat);

/// Every name of the thing: member name, server id, address; what is not known is left out.
std::vector<std::string> names(const Member& member);
std::vector<std::string> names(const Seat& seat);

/// For sentences: `ctl-2 (499b)`, `499b`.
std::string label(const Member& member);
std::string label(const Seat& seat);

/// `cannot be reached (refused)`: why a member says nothing.
std::string describe(const Reason& reason);

}  // namespace wardmote::judge::raft
