#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// Of agents that share a store.
Command get_agents();
Command elect_group();

}  // namespace wardmote::cli
