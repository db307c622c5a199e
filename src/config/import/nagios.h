#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Whether the text defines objects as Nagios and Icinga 1 do, or macros as resource.cfg does.
bool is_nagios(std::string_view text);

/// Translates object files of Nagios 3 and 4 and Icinga 1, with resource.cfg and nagios.cfg when
/// they are among the files. Hosts and services become checks: native ones where the arguments of
/// the plugin say exactly what a probe of ours looks at, else `exec` of the plugin. Contacts with
/// an address become receivers of mail. A check whose command may hold a password is left out: none
/// is copied. kLimit: too many, too long or too deep. kInvalid: no object file, a definition that
/// does not end, or templates in a circle.
Result<Imported> import_nagios(std::span<const ForeignFile> files);

}  // namespace wardmote::config
