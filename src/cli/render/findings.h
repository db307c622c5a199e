#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/render/style.h"

namespace wardmote::cli {

/// One line for each finding, and its advice under it; `at` is when they were judged, as the API writes times.
std::string draw_findings(std::span<const boost::json::value> findings, std::string_view at, Style style);

/// One finding in full: since, subjects, quoted evidence, advice.
std::string draw_finding_in_full(const boost::json::value& finding, std::string_view at, Style style);

}  // namespace wardmote::cli
