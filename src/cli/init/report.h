#pragma once

#include <span>
#include <string>

#include "cli/exit_code.h"
#include "cli/init/detect.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// What is on this host and how it is, for people; and what to do next.
std::string draw_found(std::span<const Found> found, Style style);

/// That of the worst answer; a warning when nothing was found.
Exit exit_of_found(std::span<const Found> found);

}  // namespace wardmote::cli
