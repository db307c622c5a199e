#pragma once

#include <boost/json/object.hpp>

#include "judge/bgp/facts.h"

namespace wardmote::cli {

/// {"version", "router_id", "up_ms", "shutting_down", "reconfiguring", "lines_not_understood",
///  "graceful_restart": null | {"waiting_for", "left_ms", "total_ms"},
///  "peers": [{"name", "address", "port", "remote_as", "local_as", "local_address", "state",
///    "admin_down", "passive", "restarting", "last_error", "families": [], "imported", "exported",
///    "in_state_ms", "hold_left_ms", "drops", "flaps"}]}; what is not known is null.
boost::json::object to_json(const judge::bgp::BgpFacts& facts);

}  // namespace wardmote::cli
