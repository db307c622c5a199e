#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// One line for each finding, and its advice under it.
std::string draw_findings(std::span<const boost::json::value> findings, Style style);

/// One line for each condition whose window has not passed, so that it is no finding yet.
std::string draw_observed(std::span<const boost::json::value> observed, Style style);

/// One finding in full: since, subjects, quoted evidence, advice.
std::string draw_finding_in_full(const boost::json::value& finding, Style style);

}  // namespace wardmote::cli
