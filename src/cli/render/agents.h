#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// Of /api/v1/agents.
std::string draw_agents(const boost::json::value& shown, Style style);
/// A warning when one is away.
Exit exit_of_agents(const boost::json::value& shown);

/// Of the same: what each agent says is wrong, with its age and who says so.
std::string draw_all_agents(const boost::json::value& shown, Style style);
/// The worst of what any agent says, and of exit_of_agents().
Exit exit_of_all_agents(const boost::json::value& shown);

/// Of /api/v1/election.
std::string draw_election(const boost::json::value& shown, Style style);
Exit exit_of_election(const boost::json::value& shown);

/// How this agent is cut off from the others, if it is: `my view alone: the store was not heard for
/// 40s`. `shown` is the answer of /api/v1/agents; empty: it is not.
std::string draw_isolation(const boost::json::value& shown, Style style);

}  // namespace wardmote::cli
