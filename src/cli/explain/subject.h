#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"

namespace wardmote::cli {

/// All that `status` (/api/v1/status, with /api/v1/incidents as "more") holds of one thing: a
/// member's name, a server id (four digits or all), an address, a check or a cluster, or the root
/// of an incident as it is shown (`check:bird`, `member:nb/ctl-1`, `storm:tcp`). {"subject",
/// "clusters": [whole], "members": [whole, with "cluster"], "seen_by": [lines of others' server
/// lists, with "cluster" and "by"], "checks":
/// [], "incidents": [open, of which it is the root or a part], "findings": [with "cluster"; and of
/// a check its own failure], "observed": [with "cluster"]}. kInvalid when nothing has that
/// name.
Result<boost::json::value> explain_subject(std::string_view subject,
                                           const boost::json::value& status);

}  // namespace wardmote::cli
