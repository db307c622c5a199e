#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// `wardmote explain`.
Command explain();

}  // namespace wardmote::cli
