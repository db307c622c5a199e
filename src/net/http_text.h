#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace wardmote::net {

/// RFC 9110 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
std::string http_date(WallTime t);

/// Appends `name: value`; control characters in the value become spaces, so that no value can add
/// another header.
void append_header(std::string& head, std::string_view name, std::string_view value);

std::string ascii_lower(std::string_view text);

}  // namespace wardmote::net
