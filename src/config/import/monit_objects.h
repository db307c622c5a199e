#pragma once

#include <optional>

#include "config/import/draft.h"
#include "config/import/monit_service.h"

namespace wardmote::config {

/// The check of the process, file, program … itself, with all tests but those of connections;
/// without its schedule. `fall` is what most tests wait for. Nothing when there is none, as of a
/// host, and, after a note, when no probe of ours looks at it.
std::optional<ImportedCheck> check_of_object(ImportDraft& draft, const MonitService& service);

/// Whether the test is one of a connection.
bool is_connection_test(const MonitTest& test);

}  // namespace wardmote::config
