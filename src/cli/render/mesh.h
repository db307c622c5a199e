#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// A BGP mesh as a matrix (a row is what one node says of the others), and what is wrong with it.
/// A mesh that an agent watches, with what stands and what may yet become a finding.
std::string draw_watched_mesh(const boost::json::value& value, Style style);

std::string draw_mesh(const boost::json::value& mesh, Style style);

}  // namespace wardmote::cli
