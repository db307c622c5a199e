#pragma once

#include "cli/command.h"
#include "cli/exit_code.h"

namespace wardmote::cli {

/// Replaces this program by wardmoted with the same command and options: only that one contains a
/// YAML reader and the door to libvirt, so that this one stays light. Returns when it cannot be
/// run.
Exit run_by_agent(const Call& call);

}  // namespace wardmote::cli
