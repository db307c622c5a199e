#pragma once

#include <functional>
#include <vector>

#include "serve/event_stream.h"
#include "serve/metrics/metrics.h"
#include "serve/route.h"

namespace wardmote::serve {

class Renderer;

/// What is answered from the view alone:
///
///   /                        the page (and /page.js, /page.css)
///   /livez, /readyz …        gates.h
///   /public, /public.json    public_page.h
///   /api/v1/openapi.json     what all of this looks like
///   /api/v1/status           everything (lists.h)
///   /api/v1/whoami           {"name", "role"} of who asks
///   /api/v1/findings, /checks: its parts (lists.h)
/// `renderer` outlives them; null: everything is rendered at once.
std::vector<Route> reading_routes(Renderer* renderer);

/// /metrics: Prometheus text exposition. What is in `controls` outlives it.
Route metrics_route(std::function<Controls()> controls, Renderer* renderer);

/// /api/v1/events: the changes as server-sent events, from the header Last-Event-ID or `?after=ID`
/// on.
Route events_route(EventStream& events);

}  // namespace wardmote::serve
