#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// The answer of /api/v1/samples: one line for each span of time, oldest first; or the things that
/// have samples.
std::string draw_samples(const boost::json::value& shown, Style style);

}  // namespace wardmote::cli
