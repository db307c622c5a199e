#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/init/detect.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// A configuration with comments that watches what was found, for the operator to go on from. What
/// no kind of `kinds` can look at stands as a comment. `host` names this machine's members. Pure.
std::string draft_config(std::span<const Found> found, std::string_view host,
                         std::span<const observe::ProbeKind> kinds);

/// Whether the draft watches anything.
bool watches_anything(std::span<const Found> found, std::span<const observe::ProbeKind> kinds);

}  // namespace wardmote::cli
