#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "judge/raft/opinion.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

// The same interface as cozystack's pkg/ovnstatus: the local view and the cluster's status of OVN's
// two databases, through the commands `ovsdb-client` and `ovn-appctl`, which an injected runner may
// run anywhere (kubectl exec, ssh). To ask sockets, use Member: it costs a hundredth.

namespace wardmote::observe::ovn {

enum class Database : std::uint8_t { kNorthbound, kSouthbound };

/// `OVN_Northbound`, `OVN_Southbound`.
std::string_view to_string(Database database) noexcept;

enum class ClientErrorCode : std::uint8_t {
  kControlPathMissing,  ///< no control socket is configured for the database
  kUnknownDatabase,     ///< not one of OVN's two databases
  kQueryFailed,         ///< ovsdb-client failed; the context has its output
  kQueryUnreadable,     ///< its output is not a reply
  kNoRow,               ///< the server does not have the database
  kBadId,               ///< cid or sid is not `["uuid", ID]`: standalone, a relay, or broken
  kStatusFailed,        ///< ovn-appctl failed; the context has its output
  kStatusUnreadable,    ///< its output is not a complete status
};

/// Stable lower-case names: `control_path_missing`, …
std::string_view to_string(ClientErrorCode code) noexcept;

struct ClientError {
  ClientErrorCode code = ClientErrorCode::kUnknownDatabase;
  std::string context;
  friend bool operator==(const ClientError&, const ClientError&) = default;
};

/// kUnknownDatabase for any other name.
std::expected<Database, ClientError> parse_database(std::string_view name);

/// Runs a command and returns its output, trimmed. When it cannot be started, fails or misses the
/// deadline: an error whose context is its output, or its standard error if the output is empty.
using Runner = std::function<runtime::Task<Result<std::string>>(std::vector<std::string> argv,
                                                                runtime::Deadline deadline)>;

/// Runs commands on this host. `processes` outlives it.
Runner process_runner(runtime::Processes& processes);

struct ClientOptions {
  std::string ovsdb_client = "ovsdb-client";
  std::string appctl = "ovn-appctl";
  std::string nb_control = "/var/run/ovn/ovnnb_db.ctl";
  std::string sb_control = "/var/run/ovn/ovnsb_db.ctl";
  std::string nb_ovsdb = "unix:/var/run/ovn/ovnnb_db.sock";
  std::string sb_ovsdb = "unix:/var/run/ovn/ovnsb_db.sock";
  bool use_tls = false;  ///< pass the three files to ovsdb-client
  std::string key;
  std::string certificate;
  std::string ca_certificate;
  /// A peer from which a message came within this time counts as connected.
  Duration fresh_last_message = std::chrono::seconds(10);
  std::size_t expected_replicas = 3;
  Duration command_timeout =
      std::chrono::seconds(5);  ///< of each command if the caller gives no deadline
};

/// From `_Server.Database`.
struct ServerLocalView {
  bool leader = false;
  bool connected = false;
  std::string cid;
  std::string sid;
  std::optional<std::uint64_t> index;  ///< last applied; empty while joining
  friend bool operator==(const ServerLocalView&, const ServerLocalView&) = default;
};

struct ClusterServer {
  std::string sid;  ///< as printed: four digits
  std::string address;
  std::string role;  ///< `leader`, `follower`, `candidate`; empty where the reporter cannot know
  bool self = false;
  /// The reporter itself, or a peer that it heard lately. If the reporter does not print when (OVS
  /// up to 2.14, or never heard): whether a connection between the two is up, which is weaker
  /// evidence.
  bool connected = false;
  std::optional<std::uint64_t> last_message_ms;
  std::optional<std::uint64_t> next_index;
  std::optional<std::uint64_t> match_index;
};

/// From `cluster/status`.
struct ClusterStatus {
  std::string name;
  std::string role;
  std::uint64_t term = 0;
  std::uint64_t index = 0;  ///< last applied
  bool connected = false;   ///< as the member reports it: `cluster member`
  std::vector<ClusterServer> servers;
};

/// One database as one member sees it. Either view may be missing; `errors` says why.
struct HealthSnapshot {
  Database database = Database::kNorthbound;
  std::optional<ServerLocalView> local;
  std::optional<ClusterStatus> full;
  std::vector<ClientError> errors;
  judge::raft::Opinion opinion;  ///< the same as the opinion that judge::raft compares with others

  /// How many more servers are listed than `expected`.
  [[nodiscard]] std::size_t stale_member_count(std::size_t expected) const noexcept;
  /// Whether the member reports that it is in touch with a majority; false when that is unknown.
  [[nodiscard]] bool has_quorum() const noexcept { return local && local->connected; }
  [[nodiscard]] bool is_leader() const noexcept { return local && local->leader; }
};

struct BothHealth {
  HealthSnapshot northbound;
  HealthSnapshot southbound;
};

/// Life cycle: `runtime` outlives it; it outlives its tasks. Thread: the core loop.
class Client {
 public:
  Client(runtime::Runtime& runtime, ClientOptions options, Runner runner);
  /// Runs its commands on this host.
  explicit Client(runtime::Runtime& runtime, ClientOptions options = {});

  /// Both views of one database; a failure of one does not hide the other. `member` names the
  /// member in HealthSnapshot::opinion.
  runtime::Task<HealthSnapshot> health(Database database,
                                       std::optional<runtime::Deadline> deadline = {},
                                       std::string member = {});
  /// Both databases at the same time; a failure of one does not hide the other.
  runtime::Task<BothHealth> health_both(std::optional<runtime::Deadline> deadline = {},
                                        std::string member = {});

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }

 private:
  runtime::Task<void> query(HealthSnapshot* snapshot, std::optional<runtime::Deadline> deadline);
  runtime::Task<void> ask_status(HealthSnapshot* snapshot,
                                 std::optional<runtime::Deadline> deadline);
  runtime::Task<void> look(HealthSnapshot* snapshot, std::optional<runtime::Deadline> deadline,
                           std::string member);

  runtime::Runtime& runtime_;
  ClientOptions options_;
  Runner runner_;
};

/// The views in the replies of the two commands.
std::expected<ServerLocalView, ClientError> read_local_view(std::string_view query_output);
std::expected<ClusterStatus, ClientError> read_cluster_status(std::string_view status_output,
                                                              Duration fresh_last_message);

}  // namespace wardmote::observe::ovn
