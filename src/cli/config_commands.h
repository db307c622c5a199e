#pragma once

#include "cli/command.h"

namespace wardmote::cli {

/// `config check|fmt|show|diff|import|schema`.
Command config_group();

}  // namespace wardmote::cli
