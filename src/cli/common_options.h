#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

// Options that many commands have.

/// `-o`.
Option output_option(std::vector<std::string> choices = {"table", "json", "yaml"});
/// A table, one with more columns, all as JSON or YAML, one line of JSON or the name of each item.
Option list_output_option();
Option no_color_option();
/// The options that say where the agent is.
std::vector<Option> agent_options();
/// The options of every command that reads from the agent.
std::vector<Option> reading_options();
/// The options of every command that gives the agent an order.
std::vector<Option> order_options();

}  // namespace wardmote::cli
