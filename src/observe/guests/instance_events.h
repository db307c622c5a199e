#pragma once

#include <vector>

#include "judge/guest/instance_event.h"
#include "runtime/hypervisor.h"

namespace wardmote::observe::guests {

/// What Masakari's instance monitor would tell of it. It listens twice to an error of a disk, and
/// tells of it twice.
std::vector<judge::guest::InstanceEvent> instance_events(const runtime::HypervisorEvent& event);

}  // namespace wardmote::observe::guests
