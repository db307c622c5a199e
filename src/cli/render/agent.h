#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The state of the agent itself, one line for each item, from `/api/v1/status`.
std::string draw_agent_head(const boost::json::value& status, Style style);

/// `/api/v1/status`: the agent, its clusters, checks and gates on one screen.
std::string draw_agent(const boost::json::value& status, Style style);

}  // namespace wardmote::cli
