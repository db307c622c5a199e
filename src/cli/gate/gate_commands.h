#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands of version gates.

Command wait_ready();

}  // namespace wardmote::cli
