#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands about repairs by the agent.

Command get_plans();
Command get_actions();
Command plan();
Command approve();
Command reject();
Command pause();
Command resume();

}  // namespace wardmote::cli
