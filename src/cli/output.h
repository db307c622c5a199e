#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// Colour when standard output is a terminal with colours and neither --no-color nor NO_COLOR
/// forbids them.
Style style_for(const Call& call);

/// One line of JSON without a line end, safe on a terminal.
std::string json_line(const boost::json::value& value);
/// A line in which hostile characters can only be inside quoted strings of JSON or YAML: they
/// become \u escapes, which mean the same.
std::string escape_for_terminal(std::string_view line);

void print(std::string_view text);
/// To standard error.
void print_error(std::string_view text);

/// Prints on standard error what is wrong, under the name of the command; returns `exit`.
Exit complain(const Call& call, Exit exit, std::string_view message);

}  // namespace wardmote::cli
