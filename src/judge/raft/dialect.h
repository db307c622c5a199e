#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "judge/condition/condition_tracker.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// What may be quoted of a member's status.
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

/// The words and commands of the program whose members are judged. judge/raft decides nothing by
/// them: it finds the same in every raft cluster, and tells of it in these words. Each program has
/// one constant.
struct Dialect {
  /// For subjects: all that is known of the id; "" when nothing is.
  std::string (*id)(const MemberId& id);
  /// For sentences: as the program names a server or a cluster.
  std::string (*short_id)(const MemberId& id);
  /// These lines of a status, joined by `; `, rebuilt from the typed fields. A line that the
  /// program does not have is left out. Not escaped: it may contain a peer's text.
  std::string (*status)(const Status& status, std::span<const Line> lines);
  /// A line of the server list.
  std::string (*server)(const Server& server);
  /// The whole server list in short.
  std::string (*list)(const Status& status);

  std::string_view server_word;   ///< `server`, as in "server id"
  std::string_view removal;       ///< `kick`
  std::string_view removing;      ///< `kicking`
  std::string_view join;          ///< `Join`, as the first word of a sentence
  std::string_view to_hear_more;  ///< how a member that does not say what it hears is made to

  std::string_view lost_quorum;        ///< advice when a majority is impossible
  std::string_view removed_member;     ///< advice on a member that was removed and is down
  std::string_view cloned_member;      ///< advice on two members that answer as one
  std::string_view too_many;           ///< advice on more voters than expected
  std::span<const CodeAdvice> advice;  ///< in place of the catalogue's

  /// The commands that follow Opinion::control_command. Empty: the program's members say too little
  /// of each other for a removal to be proposed, or it has no such command.
  std::string_view kick;
  std::string_view compact;
  /// What a server once called committed is in its log from then on, whatever happens to it.
  bool keeps_committed = false;
};

/// OVSDB's, as `ovs-appctl cluster/status` prints it.
extern const Dialect kOvsdb;

/// The row of `_Server.Database`, which only OVSDB has.
std::string quote(const Local& local);

}  // namespace wardmote::judge::raft
