#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The part of the command table that judges without an agent.

Command assess_group();
Command replay();

}  // namespace wardmote::cli
