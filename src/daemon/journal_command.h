#pragma once

#include <string>

#include "daemon/config_command.h"

namespace wardmote::daemon {

/// Reads the journal in the folder `data` and says if each row is as it was written: exit code 0,
/// 2 when not, 69 when it cannot be read. The agent may run meanwhile.
ConfigAnswer run_journal_verify(const std::string& data);

/// Prints each row that is there as a line of JSON, as the API has it and with its hash, oldest
/// first: exit code 0, 69 when not all can be read. The agent may run meanwhile.
ConfigAnswer run_journal_export(const std::string& data);

}  // namespace wardmote::daemon
