#pragma once

#include "runtime/http.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Answers one request from the view. Pure: no I/O, no clock. GET and HEAD only; what went wrong is
/// JSON with a status:
/// {"error": {"status", "message"}}.
///
///   /                        the page (and /page.js, /page.css)
///   /livez                   200 while this process answers and the gate `live`, if there is one,
///   passes /readyz                  200 or 503 by the gate `ready`, with the checks that hold it
///   back /metrics                 Prometheus text exposition /api/v1/status           everything
///   (json.h) /api/v1/members          {"at", "members": [members of json.h with "cluster" and
///   "database"]} /api/v1/findings         {"at", "findings": [findings of json.h with "cluster"
///   and "database"]} /api/v1/checks           {"at", "checks": []} /api/v1/clusters         {"at",
///   "clusters": []} /api/v1/clusters/NAME    one cluster of json.h
///   /api/v1/history          what changed (history.h): ?since=6h, ?subject=NAME, ?incident=17,
///   ?most=100
runtime::HttpResponse route(const AgentView& view, const runtime::HttpRequest& request);

}  // namespace wardmote::serve
