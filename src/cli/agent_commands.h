#pragma once

#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

/// Of agents that share a store.
Command get_agents();
Command elect_group();
/// Of `status`: with what all agents say.
std::vector<Option> status_options();

}  // namespace wardmote::cli
