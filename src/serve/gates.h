#pragma once

#include <vector>

#include "serve/route.h"

namespace wardmote::serve {

/// The gates as probes ask for them; 200 when they pass, else 503.
///
///   /livez, /readyz          as kube-apiserver answers (k8s.io/apiserver/pkg/server/healthz):
///                            `ok`, or a line for each check when one fails or with `?verbose`;
///                            `?exclude=CHECK` leaves one out
///   /livez/{check}, /readyz/{check}   one check of the gate
///   /liveness, /readiness    as Calico's HealthAggregator answers, with its table
///
/// Alive is who answers, unless there is a gate `live`. Without a gate `ready` nothing has been set
/// up: that is not ready.
std::vector<Route> gate_routes();

}  // namespace wardmote::serve
