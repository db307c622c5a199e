#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <vector>

#include "serve/api.h"
#include "serve/route.h"

namespace wardmote::serve {

/// What the agent reports about its own internals.
struct DebugSources {
  std::function<boost::json::object()> tasks;
  std::function<boost::json::object()> latency;
};

/// /debug/tasks and /debug/latency: at the unix socket only. For people who search for a fault; the
/// content may change with any version.
std::vector<Route> debug_routes(DebugSources sources);

/// /debug/routes: every route of `api`, which outlives it.
Route debug_routes_route(const Api& api);

}  // namespace wardmote::serve
