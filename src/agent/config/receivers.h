#pragma once

#include <vector>

#include "agent/config/config.h"
#include "agent/config/problem.h"
#include "agent/config/sections.h"
#include "agent/config/yaml.h"

namespace wardmote::agent::config {

/// `receivers` of `notify`. Adds their names to `names`.
std::vector<Receiver> read_receivers(const YamlNode& list, Names& names, Problems& problems);

}  // namespace wardmote::agent::config
