#pragma once

#include <span>
#include <string>

#include "cli/doctor/diagnosis.h"

namespace wardmote::cli {

/// Examines this machine. `socket`: the agent's unix socket, or empty when the agent is asked
/// elsewhere; then nothing is known about its process.
Surroundings look_around(const std::string& socket);

/// The permissions on the way to each of `paths`, and the user of the agent at `socket`.
Refusals look_at_rights(std::span<const std::string> paths, const std::string& socket);

}  // namespace wardmote::cli
