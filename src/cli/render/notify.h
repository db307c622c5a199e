#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// The name of each silence of /api/v1/silences.
std::vector<std::string> silence_names(const boost::json::value& shown);

/// The answer of /api/v1/silences.
std::string draw_silences(const boost::json::value& shown, Style style);
/// One of them.
std::string draw_silence(const boost::json::value& silence, Style style);

/// The answer of /api/v1/receivers: the state of each receiver, and the notices that were given up.
std::string draw_receivers(const boost::json::value& shown, Style style);
/// A warning when a receiver refused the last notice, or a notice was given up.
Exit exit_of_receivers(const boost::json::value& shown);

/// The answer of /api/v1/routes: who would be told, and what each route does.
std::string draw_route_test(const boost::json::value& shown, Style style);
/// A warning when nobody would be told.
Exit exit_of_route_test(const boost::json::value& shown);

/// The result of a test of one receiver.
std::string draw_test(const boost::json::value& receiver);

}  // namespace wardmote::cli
