#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The first steps on a host that has no agent yet.
Command init();
Command look();

}  // namespace wardmote::cli
