#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "serve/renderer.h"
#include "serve/route.h"
#include "store/history.h"

namespace wardmote::serve {

/// The query `since=6h&subject=NAME&incident=17&limit=100`, all fields optional. kInvalid says what
/// is wrong.
Result<store::EventQuery> parse_event_query(std::string_view query, WallTime now);

/// GET /api/v1/history: {"at", "complete": whether all that was asked for and is kept is in memory,
/// "stored": whether it outlives the agent, "complaint": why nothing can be stored now|null,
/// "dropped", "events": [{"id", "at", "kind", "scope", "subject", "names": [], "code"|null,
///  "severity"|null, "incident"|null, "data": {}}]}, oldest first. Searched and rendered piece by
/// piece by `renderer`; null: at once. Both outlive it.
Route history_route(const store::History& history, Renderer* renderer = nullptr);

}  // namespace wardmote::serve
