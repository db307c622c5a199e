#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "config/problem.h"

namespace wardmote::config {

/// The same file, laid out: LF line ends, no white space at the end of lines, at most one empty
/// line in a row and none at either end. Comments, order and indentation stay. kInvalid YAML, or a
/// file whose meaning would change (a block of text that ends in spaces), is the problem. Pure.
std::expected<std::string, Problem> lay_out(std::string_view bytes);

}  // namespace wardmote::config
