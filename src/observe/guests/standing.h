#pragma once

#include "judge/guest/restart_view.h"
#include "runtime/hypervisor.h"

namespace wardmote::observe::guests {

/// What the hypervisor said of a guest, as the judge knows it.
judge::guest::Standing standing_of(const runtime::GuestStanding& said);

}  // namespace wardmote::observe::guests
