#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::config {

/// What keeps the parameters from being those of a check of this kind: what the agent would say,
/// without repeating a value that may be a secret. Nothing when it would take them. Only the kinds
/// that importers make are known; any other is refused.
std::optional<std::string> misfit(std::string_view kind, const boost::json::object& params);

}  // namespace wardmote::config
