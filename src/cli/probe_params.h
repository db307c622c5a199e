#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "observe/kinds.h"

namespace wardmote::cli {

/// The parameters of a probe as the command line gives them: TARGET is the first, the others are options of their names.
/// kInvalid says which is wrong.
Result<observe::Params> probe_params(const observe::ProbeKind& kind, const Call& call);

}  // namespace wardmote::cli
