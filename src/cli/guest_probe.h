#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// `wardmote probe qga`. Not a kind of check: the agent finds guests by itself, and this program
/// has no libvirt.
Command probe_of_guest();

}  // namespace wardmote::cli
