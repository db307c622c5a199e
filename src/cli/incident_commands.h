#pragma once

#include "cli/command.h"

namespace wardmote::cli {

// The commands about incidents and about who is notified of them.

Command get_incidents();
Command ack();
Command silence_group();
Command notify_group();

}  // namespace wardmote::cli
