#pragma once

#include "base/result.h"
#include "base/time.h"
#include "judge/service/systemd.h"
#include "observe/systemd/client.h"

namespace wardmote::observe::systemd {

/// What the properties mean at `now`. kProtocol when a property that every unit has is missing, or
/// has another type.
Result<judge::SystemdFacts> to_facts(const Snapshot& snapshot, WallTime now);

}  // namespace wardmote::observe::systemd
