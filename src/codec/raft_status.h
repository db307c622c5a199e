#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// `Log: [start, next]`; next is one past the last entry.
struct RaftLog {
  std::uint64_t start = 0;
  std::uint64_t next = 0;
  friend bool operator==(const RaftLog&, const RaftLog&) = default;
};

/// One connection of the `Connections:` line: `->b8af`, `(<-0000)`.
struct RaftLink {
  std::string peer;
  bool outgoing = false;
  bool up = true;
  friend bool operator==(const RaftLink&, const RaftLink&) = default;
};

/// `Adding server …` and `Removing server …`.
struct RaftChange {
  bool adding = false;
  std::string nickname;
  std::string id;
  std::string address;
  std::string phase;  ///< `adding: catchup`; empty if not printed
  friend bool operator==(const RaftChange&, const RaftChange&) = default;
};

/// One line of the `Servers:` block.
struct RaftServer {
  std::string nickname;  ///< four digits of the id, or the stem of a unix socket's name
  std::string id;        ///< hex digits, usually four
  std::string address;
  std::string role;  ///< only in the shape `77f0 (self) at tcp:10.0.0.1:6643 (leader)` and in JSON
  bool self = false;
  std::string phase;  ///< `adding: committing`, `removing`, or an unknown group
  std::string voted_for;
  std::optional<std::uint64_t> next_index;
  std::optional<std::uint64_t> match_index;
  std::optional<std::uint64_t> last_message_ms;
  std::optional<bool> connected;  ///< only in JSON
  std::string rest;               ///< the part of the line that was not understood
  friend bool operator==(const RaftServer&, const RaftServer&) = default;
};

/// The reply to `cluster/status` (ovsdb/raft.c raft_unixctl_status, OVS 2.9 to 4.0), as printed:
/// words stay words, and a field that a version does not print stays empty.
struct RaftStatus {
  std::string nickname;
  std::string name;
  std::string
      cluster_id;  ///< a UUID, or fewer digits where no UUID was printed; empty for `not yet known`
  std::string server_id;
  std::string address;
  std::string standing;  ///< the words after `Status:`
  std::vector<std::string> join_remotes;
  std::vector<RaftChange> changes;
  std::string role;
  std::optional<std::uint64_t> term;
  std::string leader;  ///< `self`, `unknown`, or a nickname
  std::string vote;
  std::optional<std::uint64_t> election_started_ms;
  std::string election_reason;
  std::optional<std::uint64_t> election_won_ms;
  std::optional<std::uint64_t> election_timer_ms;
  std::optional<std::uint64_t> election_timer_next_ms;
  std::optional<RaftLog> log;
  std::optional<std::uint64_t> uncommitted;
  std::optional<std::uint64_t> unapplied;
  std::vector<RaftLink> links;
  std::optional<std::uint64_t> disconnections;
  std::optional<std::uint64_t> index;  ///< only in JSON
  std::optional<bool> connected;       ///< only in JSON
  bool lists_servers = false;          ///< the `Servers:` header was present
  std::vector<RaftServer> servers;

  /// Lines that were not understood, outside and inside the `Servers:` block; kept up to a limit,
  /// all counted.
  std::vector<std::string> unknown_lines;
  std::vector<std::string> unknown_server_lines;
  std::size_t unknown_count = 0;

  /// Whether it has the lines that every version prints from its middle to its end: otherwise it
  /// was cut short.
  [[nodiscard]] bool complete() const noexcept {
    return !role.empty() && term.has_value() && lists_servers;
  }
  friend bool operator==(const RaftStatus&, const RaftStatus&) = default;
};

/// Reads a status in text, or in the JSON form that `pkg/ovnstatus` accepts (bare or under `data`,
/// with a non-empty `servers`). Total: every dropped line is counted. kProtocol when nothing in it
/// is a status; kLimit over 1 MiB, 1024 servers or 4096 other list entries.
Result<RaftStatus> parse_raft_status(std::string_view text);

/// Prints the status as OVS does; parse_raft_status() of the result gives `status` again, if no
/// unknown line was over the limit.
std::string format(const RaftStatus& status);

}  // namespace wardmote::codec
