#pragma once

#include "base/time.h"
#include "serve/incidents.h"
#include "serve/metrics/exposition.h"
#include "serve/notify_desk.h"

namespace wardmote::serve {

/// Incidents, and how telling people of them goes.
void add_desk_metrics(Exposition& out, const IncidentDesk& incidents, const NotifyDesk& notify,
                      WallTime now);

}  // namespace wardmote::serve
