#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// The answers of /api/v1/plans, /api/v1/plans/{id}, /api/v1/pauses and /api/v1/actions.
std::string draw_plans(const boost::json::value& shown, Style style);
/// Those of one thing, one line each; an empty `thing`: of all. Empty when there is none.
std::string draw_open_plans(const Fields& body, std::string_view thing, Style style);
std::string draw_plan(const boost::json::value& value, Style style);
std::string draw_pauses(const boost::json::value& shown, Style style);
std::string draw_actions(const boost::json::value& shown, Style style);
/// A plan that needs a decision is critical; one that waits or runs is a warning.
Exit exit_of_plans(const boost::json::value& shown);

}  // namespace wardmote::cli
