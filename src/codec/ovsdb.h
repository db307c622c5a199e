#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

/// A row of `_Server.Database` (ovsdb-server(5), schema 1.1.0 from OVS 2.9 on, 1.2.0 from 2.16 on),
/// without its `schema`.
struct ServerRow {
  std::string name;
  std::string model;  ///< `standalone`, `clustered`, `relay`
  bool leader = false;
  bool connected = false;
  std::string cluster_id;  ///< UUID; empty when not clustered; all zeros while joining without one
  std::string server_id;   ///< UUID; empty when not clustered
  std::optional<std::uint64_t> index;  ///< last applied; empty while joining and when not clustered
  friend bool operator==(const ServerRow&, const ServerRow&) = default;
};

/// The params of a `transact` that selects the row of `database`.
std::string select_server_row(std::string_view database);

/// The params of a `transact` that selects the names of all databases of the server.
std::string select_database_names();

/// More than any server of OVN has; further ones are left out.
inline constexpr std::size_t kMostDatabases = 16;

/// The names in the reply, sorted, without `_Server`: at most kMostDatabases, none longer than 64
/// bytes. kRejected with the server's text, kProtocol when it is not a list of names.
Result<std::vector<std::string>> read_database_names(const RpcMessage& reply);
/// The same from the output of `ovsdb-client query`, and from the lines of `ovsdb-server/list-dbs`.
Result<std::vector<std::string>> parse_database_names(std::string_view output);
std::vector<std::string> split_database_names(std::string_view lines);

/// The row in a `transact` reply, or nothing when the server does not have the database (any more).
/// kRejected with the server's text, kProtocol when a requested column is missing or has another
/// type.
Result<std::optional<ServerRow>> read_server_row(const RpcMessage& reply);
/// The same from the bare result array that `ovsdb-client query` prints; kProtocol for text that is
/// not JSON.
Result<std::optional<ServerRow>> parse_query_output(std::string_view output);
/// The same from the result value.
Result<std::optional<ServerRow>> read_select_result(const boost::json::value& result);

/// Whether a row was refused because its cid or sid is neither a UUID nor missing.
bool is_bad_id(const Error& error) noexcept;

/// The three methods to subscribe to changes; RFC 7047 has the first, ovsdb-server(7) 4.1.12 and
/// 4.1.15 the others.
enum class MonitorFlavour : std::uint8_t {
  kMonitor,           ///< `monitor`, `update`
  kMonitorCond,       ///< `monitor_cond`, `update2`
  kMonitorCondSince,  ///< `monitor_cond_since`, `update3`; from OVS 2.12 on
};

std::string_view method_of(MonitorFlavour flavour) noexcept;
/// The params of that method for the row of `database`, without the column `index`, which changes
/// with every transaction.
std::string watch_server_row(MonitorFlavour flavour, std::string_view database);

/// Follows the row of one database through a monitor's first reply and its updates. Pure.
class ServerRowTracker {
 public:
  explicit ServerRowTracker(std::string database) : database_(std::move(database)) {}

  /// Takes the reply to the monitor request; forgets the earlier row.
  Result<void> begin(MonitorFlavour flavour, const RpcMessage& reply);
  /// Takes `update`, `update2` or `update3`; returns whether the row changed. Other notifications
  /// change nothing.
  Result<bool> apply(const RpcMessage& notification);

  /// The last known row; nothing when the server does not have the database.
  [[nodiscard]] const std::optional<ServerRow>& row() const noexcept { return row_; }

 private:
  Result<void> apply_tables(const boost::json::value& tables);
  Result<void> apply_row(std::string_view uuid, const boost::json::value& change);
  Result<void> place_row(std::string_view uuid, const boost::json::value& columns);

  std::string database_;
  std::string uuid_;  ///< of the row that row_ holds
  std::optional<ServerRow> row_;
};

}  // namespace wardmote::codec
