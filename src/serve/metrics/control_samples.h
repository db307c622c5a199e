#pragma once

#include "base/time.h"
#include "serve/incidents.h"
#include "serve/metrics/exposition.h"
#include "serve/notify_control.h"

namespace wardmote::serve {

/// Incidents and notifications.
void add_desk_metrics(Exposition& out, const IncidentControl& incidents,
                      const NotifyControl& notify, WallTime now);

}  // namespace wardmote::serve
