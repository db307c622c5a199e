#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  std::optional<std::uint64_t> index;  ///< last applied; nothing while joining or not clustered
  friend bool operator==(const ServerRow&, const ServerRow&) = default;
};

/// The params of a `transact` that selects the row of `database`.
std::string select_server_row(std::string_view database);

/// The row in a `transact` reply, or nothing when the server does not carry the database (any
/// more). kRejected with the server's words, kProtocol when a requested column is missing or of
/// another type.
Result<std::optional<ServerRow>> read_server_row(const RpcMessage& reply);
/// The same from the bare result array that `ovsdb-client query` prints; text that is no JSON is
/// kProtocol.
Result<std::optional<ServerRow>> parse_query_output(std::string_view output);
/// The same from the result value.
Result<std::optional<ServerRow>> read_select_result(const boost::json::value& result);

/// Whether a row was refused because its cid or sid is neither a UUID nor absent.
bool is_bad_id(const Error& error) noexcept;

/// The three ways to be told of changes; RFC 7047 has the first, ovsdb-server(7) 4.1.12 and 4.1.15
/// the others.
enum class MonitorFlavour : std::uint8_t {
  kMonitor,           ///< `monitor`, `update`
  kMonitorCond,       ///< `monitor_cond`, `update2`
  kMonitorCondSince,  ///< `monitor_cond_since`, `update3`; from OVS 2.12 on
};

std::string_view method_of(MonitorFlavour flavour) noexcept;
/// The params of that method for the row of `database`, without `index`: that one changes with
/// every transaction.
std::string watch_server_row(MonitorFlavour flavour, std::string_view database);

/// Follows the row of one database through a monitor's first reply and the updates after it. Pure.
class ServerRowTracker {
 public:
  explicit ServerRowTracker(std::string database) : database_(std::move(database)) {}

  /// Takes in the reply to the monitor request; forgets what was before.
  Result<void> begin(MonitorFlavour flavour, const RpcMessage& reply);
  /// Takes in `update`, `update2` or `update3`; says whether the row changed. Other notifications
  /// change nothing.
  Result<bool> apply(const RpcMessage& notification);

  /// The row as known; nothing when the server does not carry the database.
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
