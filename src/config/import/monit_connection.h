#pragma once

#include <optional>

#include "config/import/draft.h"
#include "config/import/monit_service.h"

namespace wardmote::config {

/// `if failed port …` and `if failed ping …` as a check, without its schedule. Nothing, after a
/// note, when no probe of ours looks at that. `verify`: certificates are verified, as `set ssl`
/// says.
std::optional<ImportedCheck> check_of_connection(ImportDraft& draft, const MonitService& service,
                                                 const MonitTest& test, bool verify);

}  // namespace wardmote::config
