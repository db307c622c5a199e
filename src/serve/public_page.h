#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {

/// How a line of the public page stands. The worst of its checks decides, in this order.
enum class PublicState : std::uint8_t { kOperational, kUnknown, kDegraded, kOutage };
/// `operational`, `unknown`, `degraded`, `outage`.
std::string_view to_string(PublicState state) noexcept;

PublicState public_state(const PublicLine& line, const std::vector<CheckView>& checks) noexcept;

/// The page. It has the title and the names of the lines, and nothing else of the agent: no name of
/// a check, a node or a peer, no reason and no version.
std::string public_html(const AgentView& view);

/// /public and /public.json ({"title", "at", "state", "lines": [{"name", "state"}]}), for
/// everybody; 404 when the configuration has no public page.
std::vector<Route> public_routes();

}  // namespace wardmote::serve
