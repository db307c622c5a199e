#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// Every command of `wardmote`. Kinds of probes come from observe::probe_kinds().
Command command_table();

}  // namespace wardmote::cli
