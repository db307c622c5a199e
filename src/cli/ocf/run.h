#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ocf/code.h"
#include "cli/ocf/parameters.h"

namespace wardmote::cli::ocf {

/// Whether the program was started as the resource agent: by the name `ovndb-servers` or
/// `ovndb-servers.ocf`.
bool is_agent(std::string_view program);

/// Runs one action. Looks at nothing but `words` for what is only told: meta-data, usage.
Code run_action(std::string_view program, const std::vector<std::string>& words,
                const Environment& environment);

/// What this node lacks: nothing, or what and the code for it.
std::optional<Problem> check_node(const Parameters& parameters);

}  // namespace wardmote::cli::ocf
