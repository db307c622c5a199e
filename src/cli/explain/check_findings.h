#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace wardmote::cli {

/// A check has no list of findings: its finding is that it fails (CHECK_FAILED) or cannot be probed
/// (MONITOR_BLIND). The check of a cluster or mesh has none, because the cluster or mesh has
/// findings of its own.
boost::json::array findings_of_check(const boost::json::value& check);

}  // namespace wardmote::cli
