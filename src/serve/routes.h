#pragma once

#include <vector>

#include "serve/event_stream.h"
#include "serve/route.h"

namespace wardmote::serve {

class IncidentDesk;
class NotifyDesk;
class PlanDesk;

/// What is answered from the view alone:
///
///   /                        the page (and /page.js, /page.css)
///   /livez, /readyz …        gates.h
///   /api/v1/openapi.json     what all of this looks like
///   /api/v1/status           everything (json.h)
///   /api/v1/whoami           {"name", "role"} of who asks
///   /api/v1/members          {"at", "members": [of json.h, with "cluster" and "database"]}
///   /api/v1/findings         {"at", "findings": [of json.h, with "cluster" and "database", or with
///                            "mesh"]}
///   /api/v1/meshes           {"at", "meshes": [of mesh_json.h]}
///   /api/v1/checks           {"at", "checks": []}
///   /api/v1/clusters         {"at", "clusters": []}
///   /api/v1/clusters/{name}  one cluster of json.h
std::vector<Route> reading_routes();

/// /metrics: Prometheus text exposition. The desks outlive it.
Route metrics_route(const IncidentDesk& incidents, const NotifyDesk& notify, const PlanDesk& plans);

/// /api/v1/events: the changes as server-sent events, from the header Last-Event-ID or `?after=ID`
/// on.
Route events_route(EventStream& events);

}  // namespace wardmote::serve
