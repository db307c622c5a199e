#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

/// What the one row of `NB_Global` or `SB_Global` (ovn-nb(5), ovn-sb(5)) says for failover.
struct GlobalRow {
  std::uint64_t epoch = 0;   ///< `external_ids:ovn-ha:epoch`; 0 when it has none
  std::string node;          ///< `external_ids:ovn-ha:node`: who wrote the epoch
  std::int64_t counter = 0;  ///< `nb_cfg`
  friend bool operator==(const GlobalRow&, const GlobalRow&) = default;
};

/// A row of the table `Connection`: where clients connect to.
struct ConnectionRow {
  std::string uuid;
  std::string target;  ///< `ptcp:6641:10.0.0.1`
  friend bool operator==(const ConnectionRow&, const ConnectionRow&) = default;
};

/// `NB_Global` of `OVN_Northbound`, `SB_Global` of `OVN_Southbound`.
std::string_view global_table(std::string_view database) noexcept;

/// The params of a `transact` that selects that row.
std::string select_global(std::string_view database);
/// The row in the reply; nothing when the table is empty, as in a new database. kRejected with the
/// server's text, kProtocol.
Result<std::optional<GlobalRow>> read_global(const RpcMessage& reply);

/// The params of a `transact` that writes epoch and node into the row, and makes the row where
/// there is none. Other keys of `external_ids` stay. It asks the server to wait for its disk.
std::string stamp_epoch(std::string_view database, bool has_row, std::uint64_t epoch,
                        std::string_view node);

/// The params of a `transact` that writes something new into the row, which must exist
/// (`external_ids:ovn-ha:checked`), and asks the server to wait for its disk.
std::string write_check(std::string_view database, std::int64_t now);

/// The params of a `transact` that selects all rows of `Connection`.
std::string select_connections(std::string_view database);
Result<std::vector<ConnectionRow>> read_connections(const RpcMessage& reply);
/// Makes a row with this target and inactivity probe (ms), and names it in the global row, which
/// must exist.
std::string add_connection(std::string_view database, std::string_view target, std::int64_t probe);
std::string retarget_connection(std::string_view database, std::string_view uuid,
                                std::string_view target);

/// Whether each operation of a `transact` was done. kRejected with the server's text (`I/O error …
/// No space left on device`, `not allowed` on a backup).
Result<void> read_done(const RpcMessage& reply);

/// The UUID in the reply to `get_server_id` (ovsdb-server(7) 4.1.17).
Result<std::string> read_server_id(const RpcMessage& reply);

}  // namespace wardmote::codec
