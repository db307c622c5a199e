#pragma once

#include <functional>
#include <vector>

#include "judge/report/reporters.h"
#include "serve/route.h"

namespace wardmote::serve {

/// The gates as probes ask for them; 200 when they pass, else 503.
///
///   /livez, /readyz          as kube-apiserver answers (k8s.io/apiserver/pkg/server/healthz):
///                            `ok`, or a line for each check when one fails or with `?verbose`;
///                            `?exclude=CHECK` leaves one out
///   /livez/{check}, /readyz/{check}   one check of the gate
///
/// Alive is who answers, unless there is a gate `live`. Without a gate `ready` nothing has been set
/// up: that is not ready.
std::vector<Route> gate_routes();

/// All reporters, in their present state.
using ReporterStandings = std::function<std::vector<judge::ReporterStanding>()>;

/// /liveness and /readiness, as Calico's HealthAggregator answers: the same gates with its table. A
/// reporter has one row with its timeout and its own text, any other check one without.
std::vector<Route> health_table_routes(const ReporterStandings& standings);

}  // namespace wardmote::serve
