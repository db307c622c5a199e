#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

/// `-o`.
Option output_option(std::vector<std::string> choices = {"table", "json", "yaml"});
/// A table, one with more columns, all as JSON or YAML, one line of JSON or the name of each item.
Option list_output_option();
Option no_color_option();

}  // namespace wardmote::cli
