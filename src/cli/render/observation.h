#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The result of one probe: the outcome and its reason, the facts, and for a raft member its server
/// list.
std::string draw_observation(const boost::json::value& observation, Style style);

}  // namespace wardmote::cli
