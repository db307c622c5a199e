#pragma once

#include <string>

#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// The facts of a BGP daemon: one line about the daemon, and a table of its sessions.
std::string draw_bgp(const Fields& facts, Style style);

}  // namespace wardmote::cli
