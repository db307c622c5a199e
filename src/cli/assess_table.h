#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands that judge without an agent.

Command assess_group();
Command replay();

}  // namespace wardmote::cli
