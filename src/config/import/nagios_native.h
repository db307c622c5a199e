#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace wardmote::config {

/// A probe of ours that looks at what a plugin looks at.
struct NativeProbe {
  std::string kind;
  boost::json::object params;
  std::chrono::milliseconds timeout{};
};

/// Nothing when no probe means exactly the same by these arguments: then the plugin itself is run.
/// Known are check_ping, check_tcp, check_http with `-e` and check_dig (monitoring-plugins 2.3).
std::optional<NativeProbe> native_probe(const std::vector<std::string>& argv);

}  // namespace wardmote::config
