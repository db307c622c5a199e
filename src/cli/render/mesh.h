#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// A BGP mesh as a matrix (a row is what one node says about the others), and its faults. For a
/// mesh that an agent watches, also its findings, and conditions that may become findings.
std::string draw_watched_mesh(const boost::json::value& value, Style style);

std::string draw_mesh(const boost::json::value& mesh, Style style);

}  // namespace wardmote::cli
