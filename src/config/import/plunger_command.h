#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/import/format.h"

namespace wardmote::config {

/// What is known of the plunger and of ovn-central.
struct PlungerCommand {
  std::vector<std::pair<std::string, std::string>> flags;       ///< without dashes
  std::map<std::string, std::string, std::less<>> environment;  ///< of all containers
};

/// From Deployments and Pods, a List of them, or a bare command line.
Result<PlungerCommand> read_plunger(std::span<const ForeignFile> files);

}  // namespace wardmote::config
