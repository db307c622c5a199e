#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wardmote {

/// RFC 3986 2.1; nothing when an escape is broken or hides a zero byte.
std::optional<std::string> percent_decode(std::string_view text);

/// A path as it goes into a request line: everything but unreserved characters, sub-delims, `:`,
/// `@` and `/` is escaped.
std::string percent_encode_path(std::string_view path);

/// A value as it goes into a query: everything but unreserved characters is escaped.
std::string percent_encode_value(std::string_view value);

}  // namespace wardmote
