#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "runtime/lateness.h"
#include "serve/view.h"

namespace wardmote::agent {

/// {"tasks": [{"name", "count"}]}, by name; one name is one kind of task.
boost::json::object debug_tasks(const std::vector<std::string>& names);

/// {"looks": {"count", "p50_us", "p99_us", "max_us"}, "heartbeat": {"last_us", "worst_us"},
/// "voided"}: how late things began.
boost::json::object debug_latency(const runtime::Lateness& looks, const serve::SelfView& self);

}  // namespace wardmote::agent
