#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "serve/view.h"

namespace wardmote::serve {

/// The JSON of the API and of the command line (DESIGN section 7); `at` is RFC 3339 and ages are milliseconds before `now`.
boost::json::object to_json(const ClusterView& cluster, TimePoint now, WallTime wall_now);
boost::json::object to_json(const judge::Finding& finding, TimePoint now, WallTime wall_now);
boost::json::object to_json(const CheckView& check, TimePoint now);
boost::json::object to_json(const GateView& gate);
/// `/api/v1/status`: node, version, verdict, clusters, checks, gates, self.
boost::json::object to_json(const AgentView& agent);

}  // namespace wardmote::serve
