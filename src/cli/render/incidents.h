#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// The answer of /api/v1/incidents: one line for each incident, and a warning while nothing may
/// act.
std::string draw_incidents(const boost::json::value& shown, Style style);

/// By the gravest of the open ones; one that was acknowledged is a warning.
Exit exit_of_incidents(const boost::json::value& shown);

/// One incident: since when, what stands, who knows of it.
std::string draw_incident(const boost::json::value& incident, Style style);

}  // namespace wardmote::cli
