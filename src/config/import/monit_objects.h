#pragma once

#include <chrono>
#include <vector>

#include "config/import/draft.h"
#include "config/import/monit_service.h"

namespace wardmote::config {

/// The checks of the process, file, program … itself, with all tests but those of connections;
/// without `every`. The first looks at its existence; further ones have the tests that wait for
/// another number of cycles. None for a host, and, after a note, when no probe of ours looks at it.
/// `patience`: of a program without a timeout of its own.
std::vector<ImportedCheck> checks_of_object(ImportDraft& draft, const MonitService& service,
                                            std::chrono::milliseconds patience);

/// Whether the test is one of a connection.
bool is_connection_test(const MonitTest& test);

}  // namespace wardmote::config
