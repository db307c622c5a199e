#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// A BGP mesh as a matrix (a row is what one node says of the others), and what is wrong with it.
std::string draw_mesh(const boost::json::value& mesh, Style style);

}  // namespace wardmote::cli
