#pragma once

#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "config/sections.h"
#include "config/yaml.h"

namespace wardmote::config {

/// `receivers` of `notify`. Adds their names to `names`.
std::vector<Receiver> read_receivers(const YamlNode& list, Names& names, Problems& problems);

}  // namespace wardmote::config
