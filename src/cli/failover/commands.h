#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// `wardmote failover`: the pairs of databases that the agents manage without Pacemaker.
Command failover_group();

}  // namespace wardmote::cli
