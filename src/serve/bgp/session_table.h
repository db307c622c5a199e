#pragma once

#include "serve/metrics/exposition.h"

namespace wardmote::serve {

inline constexpr MetricInfo kSessionMetrics[] = {
    {"wardmote_bgp_session_up", MetricType::kGauge, "check,session,neighbor",
     "Whether the session is Established, as this end says."},
    {"wardmote_bgp_session_state", MetricType::kGauge, "check,session,neighbor,state",
     "1 for the state of the session."},
    {"wardmote_bgp_session_state_seconds", MetricType::kGauge, "check,session,neighbor",
     "Time since the last change of the session; its uptime while it is up."},
    {"wardmote_bgp_session_routes", MetricType::kGauge, "check,session,neighbor,direction",
     "Routes of the session, imported and exported, over all families."},
    {"wardmote_bgp_session_flaps_total", MetricType::kCounter, "check,session,neighbor",
     "How often the session was lost, as the daemon counts, else since the agent watches it."},
};

}  // namespace wardmote::serve
