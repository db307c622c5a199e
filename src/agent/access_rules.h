#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "serve/access.h"

namespace wardmote::agent {

/// The rules of the API from its configuration and this machine: reads the token files, looks up
/// the groups, and adds root and the agent's own user as admins, `node` and the host's name as
/// names of this host. kInvalid names what cannot be read, is not a token, or is no group. Blocks
/// for a moment.
Result<serve::AccessRules> access_rules(const config::Api& api, const std::string& node);

/// Everything for which access_rules() refuses `api`, not only the first. Blocks for a moment.
std::vector<std::string> access_problems(const config::Api& api);

}  // namespace wardmote::agent
