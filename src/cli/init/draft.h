#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/init/detect.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// A configuration with comments that watches what was found, for the operator to complete. Things
/// without a kind in `kinds` are comments. `host` names the members on this machine. `has_data`:
/// the folder for `data` is there, as the package makes it. Pure.
std::string draft_config(std::span<const Found> found, std::string_view host,
                         std::span<const observe::ProbeKind> kinds, bool has_data = false);

/// The folder that the package makes for `data`.
inline constexpr std::string_view kDataFolder = "/var/lib/wardmote";

/// Whether the draft watches anything.
bool watches_anything(std::span<const Found> found, std::span<const observe::ProbeKind> kinds);

}  // namespace wardmote::cli
