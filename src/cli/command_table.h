#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// Every command of `wardmote`, with a `probe KIND` for each of `kinds` (observe::probe_kinds()).
/// Where `only` is the name of one, that one alone: who is started by exec should not pay for the
/// help of all others.
Command command_table(std::span<const observe::ProbeKind> kinds, std::string_view only = {});

}  // namespace wardmote::cli
