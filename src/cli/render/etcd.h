#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// An etcd cluster that an agent watches: its members, its findings, and conditions that may become
/// findings.
std::string draw_etcd(const boost::json::value& value, Style style);

}  // namespace wardmote::cli
