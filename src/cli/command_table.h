#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// Returns the kinds of probes; called only where a command needs them.
using KindsOfProbes = std::span<const observe::ProbeKind> (*)() noexcept;

/// Every command of `wardmote`, with a `probe KIND` for each of `kinds` (observe::probe_kinds;
/// null: none). If `only` is the name of a command, only that one: an exec probe should not pay for
/// the help of all others.
Command command_table(KindsOfProbes kinds, std::string_view only = {});

}  // namespace wardmote::cli
