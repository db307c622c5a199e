#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// Tells which kinds of probes there are; asked only where a command needs to know.
using KindsOfProbes = std::span<const observe::ProbeKind> (*)() noexcept;

/// Every command of `wardmote`, with a `probe KIND` for each of `kinds` (observe::probe_kinds;
/// null: none). Where `only` is the name of one, that one alone: who is started by exec should not
/// pay for the help of all others.
Command command_table(KindsOfProbes kinds, std::string_view only = {});

}  // namespace wardmote::cli
