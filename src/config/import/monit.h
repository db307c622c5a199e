#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// Whether the text has statements of a control file of Monit.
bool is_monit(std::string_view text);

/// Translates control files of Monit 5: services and their connection tests become checks, the mail
/// server and the addresses of alerts a receiver. A test without a counterpart is named, and so are
/// files that are included. No password is copied. kLimit: a file is too long, or has too many
/// checks. kInvalid: a quote does not end, or nothing can be translated.
Result<Imported> import_monit(std::span<const ForeignFile> files);

}  // namespace wardmote::config
