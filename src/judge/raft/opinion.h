#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/outcome.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::raft {

using Milliseconds = std::chrono::milliseconds;

/// The words of the program that the members run (judge/raft/dialect.h).
struct Dialect;
extern const Dialect kOvsdb;

/// An election round: the longest that OVSDB waits for an election (raft.c, election_timer and its
/// random second).
constexpr Milliseconds election_round(Milliseconds election_timer) noexcept {
  return election_timer + Milliseconds(1000);
}

enum class Mode : std::uint8_t {
  kUnknown,
  kClustered,
  kStandalone,
  kRelay,
  kAbsent,  ///< the server runs and does not have the database (kicked, left, dropped)
};

enum class Role : std::uint8_t { kUnknown, kFollower, kCandidate, kLeader };

/// The `Status:` of a member, in OVSDB's words.
enum class Standing : std::uint8_t {
  kUnknown,
  kMember,
  kJoining,
  kLeaving,
  kLeft,
  kFailed,
  kDisconnected
};

/// How a member names another server in `Leader:` and `Vote:`.
struct PeerName {
  enum class Kind : std::uint8_t { kUnknown, kSelf, kNamed };
  Kind kind = Kind::kUnknown;
  std::string name;  ///< nickname or the beginning of an id, when kNamed
  friend bool operator==(const PeerName&, const PeerName&) = default;
};

enum class Phase : std::uint8_t {
  kNone,
  kAddingCatchup,
  kAddingCaughtUp,
  kAddingCommitting,
  kRemoving,
  kOther
};

/// One line of a member's server list.
struct Server {
  std::string nickname;  ///< as printed: four digits of the id, or the stem of a unix socket's name
  MemberId id;           ///< usually four digits
  std::string address;
  bool self = false;
  Phase phase = Phase::kNone;
  std::string voted_for;  ///< only a candidate prints it
  /// Only a leader prints it. It runs ahead, so it shows no lag.
  std::optional<std::uint64_t> next_index;
  std::optional<std::uint64_t> match_index;  ///< only a leader prints it
  /// Time since the last RPC from it; says nothing between two followers.
  std::optional<Milliseconds> last_message;
  friend bool operator==(const Server&, const Server&) = default;
};

/// What OVSDB prints for a peer that was never identified.
inline constexpr std::string_view kNobody = "0000";

/// One raft connection of a member: `->b8af`, `<-b8af`, in parentheses when down.
struct Link {
  std::string peer;
  bool outgoing = false;
  bool up = true;
  friend bool operator==(const Link&, const Link&) = default;
};

/// `Adding server …` and `Removing server …`, as the leader prints them above its role.
struct MembershipChange {
  bool adding = false;
  MemberId id;
  std::string address;
  Phase phase = Phase::kNone;
  friend bool operator==(const MembershipChange&, const MembershipChange&) = default;
};

/// The result of one of the two ways to ask a member.
struct Source {
  Reason reason{ReasonCode::kNotProbed, {}};  ///< kNone for a good answer

  [[nodiscard]] bool answered() const noexcept { return reason.code == ReasonCode::kNone; }
  friend bool operator==(const Source&, const Source&) = default;
};

/// What the member reports about the raft protocol (`cluster/status`; etcd: Maintenance.Status).
struct Status {
  std::string nickname;
  MemberId cluster_id;  ///< unknown while joining without one
  MemberId server_id;
  std::string address;
  Standing standing = Standing::kUnknown;
  Role role = Role::kUnknown;
  std::uint64_t term = 0;
  PeerName leader;
  PeerName vote;
  /// how long ago this member last started an election
  std::optional<Milliseconds> election_started;
  std::optional<Milliseconds> election_won;  ///< how long ago it won, while it still leads
  std::string election_reason;               ///< `timeout`, `leadership_transfer`
  Milliseconds election_timer{1000};
  std::optional<Milliseconds> election_timer_next;  ///< a change of the timer is under way
  std::uint64_t log_start = 0;
  std::uint64_t log_next = 0;  ///< one past the last entry
  std::uint64_t uncommitted = 0;
  std::uint64_t unapplied = 0;
  std::uint64_t disconnections = 0;
  std::vector<Link> links;
  std::vector<Server> servers;
  std::vector<MembershipChange> changes;
  std::vector<std::string> join_remotes;

  /// Index of the last committed entry; 0 when the log is empty.
  [[nodiscard]] std::uint64_t committed_index() const noexcept {
    return log_next > uncommitted ? log_next - 1 - uncommitted : 0;
  }
  [[nodiscard]] std::uint64_t applied_index() const noexcept {
    return log_next > unapplied ? log_next - 1 - unapplied : 0;
  }
  friend bool operator==(const Status&, const Status&) = default;
};

/// What the database server reports about itself (`_Server.Database`; etcd has nothing like it).
struct Local {
  bool leader = false;
  bool connected = false;
  MemberId cluster_id;
  MemberId server_id;
  std::optional<std::uint64_t> index;  ///< last applied; empty while joining
  friend bool operator==(const Local&, const Local&) = default;
};

/// Another raft database of the same server process.
struct Neighbour {
  std::string database;
  MemberId server_id;  ///< not known: it does not say
  MemberId cluster_id;
  std::string address;  ///< may be unknown
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

/// What one configured member reports about the cluster, or why it does not. Each of the two
/// sources may fail by itself.
struct Opinion {
  std::string member;    ///< its name in the configuration, unique within the cluster
  std::string database;  ///< that it was asked for; empty: not known
  /// The command there, without its last arguments, for advice: {"ovn-appctl", "-t", CTL}.
  std::vector<std::string> control_command;
  TimePoint begun;
  TimePoint ended;
  Mode mode = Mode::kUnknown;
  Source status_source;
  Source local_source;
  std::optional<Status> status;
  std::optional<Local> local;
  /// The databases of the server, without `_Server`. Asked only of a server that does not have this
  /// database; empty if it does not say.
  std::vector<std::string> serves;
  /// What else its process has, as it said at `neighbours_at`; nothing: it does not answer now, or
  /// never said.
  std::optional<std::vector<Neighbour>> neighbours;
  TimePoint neighbours_at;
  /// One look may reach this server and the next one another: it is asked over the network, or by a
  /// command.
  bool roams = false;
  /// In whose words it is told of; the same for all members of a cluster.
  const Dialect* dialect = &kOvsdb;

  /// Whether it reported anything about the cluster.
  [[nodiscard]] bool speaks() const noexcept { return status.has_value() || local.has_value(); }
  /// The better known of its two ids: the status's, else the local view's, else unknown.
  [[nodiscard]] MemberId server_id() const noexcept;
  [[nodiscard]] MemberId cluster_id() const noexcept;
  /// Whether its server answers that it does not have this database.
  [[nodiscard]] bool knows_no_database() const noexcept;
  /// The reason for its silence: kNone while it answers.
  [[nodiscard]] const Reason& silence() const noexcept;
};

std::string_view to_string(Mode mode) noexcept;
std::string_view to_string(Role role) noexcept;
std::string_view to_string(Standing standing) noexcept;
std::string_view to_string(Phase phase) noexcept;
/// The name itself, `self` or `unknown`.
std::string to_string(const PeerName& name);

}  // namespace wardmote::judge::raft
