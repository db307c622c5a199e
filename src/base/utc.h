#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace wardmote {

/// RFC 3339 in UTC, `2026-11-20T07:52:35Z`, with or without a fraction of a second, of the years
/// 1970 to 2200. Nothing for any other text; other time zones are not accepted.
std::optional<WallTime> parse_utc(std::string_view text) noexcept;

/// The time of this date; nothing if there is no such date, or if the year is not 1970 to 2200. The
/// second may be 60 (a leap second).
std::optional<WallTime> utc_time(int year, unsigned month, unsigned day, unsigned hour,
                                 unsigned minute, unsigned second) noexcept;

}  // namespace wardmote
