#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "serve/route.h"
#include "store/history.h"

namespace wardmote::serve {

/// What is asked for by `since=6h&subject=NAME&incident=17&most=100`, all of them optional.
/// kInvalid says what is wrong.
Result<store::EventQuery> parse_event_query(std::string_view query, WallTime now);

/// {"at", "complete": whether all that was asked for and is kept is in memory, "stored": whether it
/// outlives the agent, "complaint": why nothing can be stored now|null, "dropped",
///  "events": [{"id", "at", "kind", "scope", "subject", "names": [], "code"|null, "severity"|null,
///  "incident"|null, "data": {}}]}, oldest first.
boost::json::object history_json(const store::History& history, const store::EventQuery& query,
                                 WallTime now);

/// GET /api/v1/history. `history` outlives it.
Route history_route(const store::History& history);

}  // namespace wardmote::serve
