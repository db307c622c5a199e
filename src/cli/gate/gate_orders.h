#pragma once

#include <vector>

#include "cli/command.h"

namespace wardmote::cli {

// Orders to a version gate, through the agent of this host.

/// pause, resume, adopt and explain, of `wardmote reconcile`.
std::vector<Command> reconcile_orders();

}  // namespace wardmote::cli
