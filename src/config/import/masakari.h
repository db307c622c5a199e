#pragma once

#include <string_view>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Whether the text has a group that only Masakari's monitors have.
bool is_masakari(std::string_view text);

/// Translates masakarimonitors.conf (masakari-monitors 14 to 2026): guests by Masakari's rules and
/// the receiver that notifies its API. Each option that is set and has no counterpart is named with
/// what stands in its place; a password is never copied. The result is a configuration that the
/// agent accepts. kLimit: the file is too long.
Result<Imported> import_masakari(std::string_view text);

}  // namespace wardmote::config
