#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote::codec {

/// A date of HTTP in any of its three forms (RFC 9110 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
/// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. A year of two digits is the one
/// that is at most 50 years after `now`. The name of the day is not checked against the date.
/// Nothing for any other text.
std::optional<WallTime> parse_http_date(std::string_view text, WallTime now) noexcept;

}  // namespace wardmote::codec
