#pragma once

#include <boost/json/value.hpp>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::codec {

/// What a plain scalar means to kubectl, or why it is refused: readers of YAML 1.1 and 1.2
/// understand it differently, or JSON cannot say it. The reason quotes no value but words of YAML:
/// numbers may be passwords. Pure.
std::expected<boost::json::value, std::string> plain_value(std::string_view text);

/// Why kubectl would have another key for a plain scalar than its text (`0x10` is `16`, `True` is
/// `true`); nothing: it has the same. Pure.
std::optional<std::string> fault_of_plain_key(std::string_view text);

}  // namespace wardmote::codec
