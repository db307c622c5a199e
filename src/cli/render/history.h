#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The answer of /api/v1/history: one line for each event, oldest first, and a note when events are
/// missing.
std::string draw_history(const boost::json::value& shown, Style style);

}  // namespace wardmote::cli
