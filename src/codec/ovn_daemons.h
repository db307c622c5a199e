#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

// What the daemons beside OVN's databases answer on their control sockets (ovn-northd(8),
// ovn-controller(8), lib/unixctl.c), and what ovs-vswitchd writes into its own database.

/// `Status: active`, `Status: standby`, `Status: paused`: the word. kProtocol for anything else.
Result<std::string> parse_northd_status(std::string_view text);
/// `connected`, `not connected`. kProtocol for anything else.
Result<bool> parse_connection_status(std::string_view text);
/// `running`, `paused` (debug/status of ovn-controller): whether it is paused. kProtocol.
Result<bool> parse_debug_status(std::string_view text);
/// `ovs-vswitchd (Open vSwitch) 3.1.0`: the version. kProtocol.
Result<std::string> parse_version(std::string_view text);

/// What ovs-vswitchd writes (ovs-vswitchd.conf.db(5)).
struct VswitchRow {
  std::int64_t next_cfg = 0;
  std::int64_t cur_cfg = 0;
  std::size_t faulty = 0;           ///< interfaces with an error
  std::vector<std::string> errors;  ///< of the first kMostInterfaceErrors: `NAME: ERROR`
};
inline constexpr std::size_t kMostInterfaceErrors = 8;

/// The params of a `transact` that selects it.
std::string select_vswitch();
/// Nothing when the database is empty: `ovs-vsctl init` has not run. kRejected, kProtocol.
Result<std::optional<VswitchRow>> read_vswitch(const RpcMessage& reply);

}  // namespace wardmote::codec
