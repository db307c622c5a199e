#pragma once

#include <span>

#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// Every command of `wardmote`, with a `probe KIND` for each of `kinds` (observe::probe_kinds()).
Command command_table(std::span<const observe::ProbeKind> kinds);

}  // namespace wardmote::cli
