#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

// Options that many verbs have.

/// How to print one thing, or what is drawn.
Option output_option(std::vector<std::string> choices = {"table", "json", "yaml"});
Option no_color_option();
/// Where the agent is.
std::vector<Option> agent_options();
/// What every verb has that reads from the agent.
std::vector<Option> reading_options();
/// What every verb has that tells the agent to do something.
std::vector<Option> order_options();

}  // namespace wardmote::cli
