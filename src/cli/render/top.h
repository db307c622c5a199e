#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The most important first, so that a small screen cuts off what is well: the agent, one line for
/// each cluster, findings, then the checks, the worst first. `status` is /api/v1/status.
std::string draw_top(const boost::json::value& status, Style style);

}  // namespace wardmote::cli
