#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>

#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// How bad the worst finding of a guest is.
Exit exit_of_guest(const boost::json::value& guest) noexcept;
/// One line for each guest of the list; "" when there is none.
std::string draw_guests(std::span<const boost::json::value> guests, Style style);

}  // namespace wardmote::cli
