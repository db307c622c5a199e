#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// Checks of the API, one line each.
std::string draw_checks(std::span<const boost::json::value> checks, Style style);

/// The exit code of a check, as the API gives it.
Exit exit_of_check(const boost::json::value& check) noexcept;

}  // namespace wardmote::cli
