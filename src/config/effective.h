#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "config/config.h"
#include "config/yaml.h"

namespace wardmote::config {

/// What the files say, as JSON. Values that are secret are hidden.
boost::json::value to_json(const YamlNode& node);

/// The same with every default that `config` has, and durations spelled one way. `root` is the tree
/// that `config` was read from.
boost::json::object effective(const YamlNode& root, const Config& config);

}  // namespace wardmote::config
