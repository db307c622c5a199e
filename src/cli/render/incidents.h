#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// Beside a list that may be empty because the agent does not know yet.
inline constexpr std::string_view kNotAllIsKnown =
    "Not all that is watched is known: wardmote status";

/// The answer of /api/v1/incidents: one line for each incident, and a warning while the agent may
/// not act.
std::string draw_incidents(const boost::json::value& shown, Style style);

/// The exit code of the gravest open incident; an acknowledged one counts as a warning.
Exit exit_of_incidents(const boost::json::value& shown);

/// One incident: since when it is open, what is wrong, and who acknowledged it.
std::string draw_incident(const boost::json::value& incident, Style style);

}  // namespace wardmote::cli
