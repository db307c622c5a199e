#pragma once

#include <string>

#include "observe/ovn/client.h"

namespace wardmote::observe::ovn {

/// The snapshot as Go writes cozystack's ovnstatus.HealthSnapshot: `DB`, `Local` (leader,
/// connected, cid, sid, index) and `Full` (name, role, term, index, connected, servers; of each
/// server sid, address, role, self, connected, lastMsgMs, nextIndex, matchIndex), without what is
/// empty where the original leaves that out. Two things differ: a view that is missing is null and
/// not a view of a server that does not lead, and `Errors` says why it is missing.
std::string to_json(const HealthSnapshot& snapshot);

}  // namespace wardmote::observe::ovn
