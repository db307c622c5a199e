#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The answer of /api/v1/history: one line for each event, oldest first, and what is missing.
std::string draw_history(const boost::json::value& shown, Style style);

}  // namespace wardmote::cli
