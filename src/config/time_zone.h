#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time_zone.h"

namespace wardmote::config {

/// What this host knows about `name` (IANA, as Europe/Berlin): the changes from the year 2020 to
/// 2100, by cctz from /usr/share/zoneinfo. Errors: kMissing.
Result<TimeZone> load_time_zone(std::string_view name);

}  // namespace wardmote::config
