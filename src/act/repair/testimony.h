#pragma once

#include <string>
#include <string_view>

#include "act/repair/executor.h"
#include "base/result.h"

namespace wardmote::act::repair {

/// What the command that copies a member's database has to say as the last line of its output:
/// {"running": false, "server": "ID", "cluster": "ID"}. The network cannot tell a server that does
/// not run from one behind a firewall, and a file may be another server's; its own host can.
/// `ovsdb-tool db-sid` and `db-cid` print the ids (ovsdb-tool(1), OVS 2.9); null or "" where the
/// file has none to tell. Returns the line; kRejected with the reason why the plan must not go on.
/// Output that contradicts itself is refused: a key that comes twice, or two reports.
Result<std::string> check_testimony(const RepairRequest& request, std::string_view output);

}  // namespace wardmote::act::repair
