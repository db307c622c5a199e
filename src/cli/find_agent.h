#pragma once

#include "base/result.h"
#include "cli/agent_address.h"
#include "cli/command.h"

namespace wardmote::cli {

/// The agent of this call, from its options, the environment (WARDMOTE_HOST, WARDMOTE_TOKEN_FILE,
/// WARDMOTE_CA, WARDMOTE_CERT, WARDMOTE_KEY) and the token file that one of them names. kInvalid
/// says what is wrong.
Result<AgentAddress> find_agent(const Call& call);

}  // namespace wardmote::cli
