#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wardmote::codec {

/// RFC 4648 section 4, by nettle.
std::string base64_encode(std::string_view bytes);

/// Nothing: it is no base64. White space is allowed.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace wardmote::codec
