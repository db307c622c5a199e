#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "config/config.h"
#include "config/yaml.h"

namespace wardmote::config {

/// What the files say, as JSON. Secrets stand in files of their own; what addresses of the web and
/// headers may tell is hidden.
boost::json::value to_json(const YamlNode& root);

/// The same with every default that `config` has, and durations spelled one way. `root` is the tree
/// that `config` was read from.
boost::json::object effective(const YamlNode& root, const Config& config);

}  // namespace wardmote::config
