#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "judge/observation.h"

namespace wardmote::cli {

/// {"kind", "subject", "outcome", "reason": code|null, "detail", "took_us", "bytes_in",
/// "bytes_out", "facts": object|null}; the facts of a raft member are a member of the API, those of
/// a TCP connect {"connect_us"}, others as their docs/probes/KIND.md says.
boost::json::object to_json(std::string_view kind, const judge::Observation& observation);

}  // namespace wardmote::cli
