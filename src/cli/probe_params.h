#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// The name of a parameter on the command line: the first one of a kind is TARGET, the others are
/// options, `control_command` as --control-command.
std::string cli_name(const observe::ProbeKind& kind, const observe::ParamSpec& param);

/// The parameters of a probe as the command line gives them. kInvalid names the wrong one.
Result<observe::Params> probe_params(const observe::ProbeKind& kind, const Call& call);

}  // namespace wardmote::cli
