#pragma once

#include "serve/route.h"

namespace wardmote::serve {

class Renderer;

/// /api/v1/members: {"at", "total", "next", "members": [of cluster_view.h, each with "cluster" and
/// "database"]}, a page of the members of all clusters. `renderer` as in lists.h.
Route members_route(Renderer* renderer);

}  // namespace wardmote::serve
