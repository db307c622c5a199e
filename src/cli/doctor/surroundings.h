#pragma once

#include <string>

#include "cli/doctor/diagnosis.h"

namespace wardmote::cli {

/// Looks at this machine. `socket`: the agent's unix socket, or empty when it is asked elsewhere;
/// then nothing is known of its process.
Surroundings look_around(const std::string& socket);

}  // namespace wardmote::cli
