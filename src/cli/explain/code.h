#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "judge/finding.h"

namespace wardmote::cli {

/// The catalogue's row for a code: {"code", "severity", "raised", "critical": text|null, "meaning",
/// "evidence", "advice"}.
boost::json::object catalogue_entry(const judge::CodeInfo& info);

/// catalogue_entry(), and as "findings" and "observed" those of that code in `status`
/// (/api/v1/status), each with its "cluster", "mesh" or check; as "incidents" the open ones of
/// `more` (/api/v1/incidents) that have that code, or a symptom with it.
boost::json::object explain_code(const judge::CodeInfo& info, const boost::json::value& status);

}  // namespace wardmote::cli
