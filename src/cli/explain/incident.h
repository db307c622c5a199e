#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wardmote::cli {

/// The number of an incident in `17` or `#17`. Four digits without the mark are a server id.
std::optional<std::int64_t> incident_number(std::string_view subject);

/// `incident` (/api/v1/incidents/17), and as "explained" the catalogue_entry() of each of its
/// codes, its own first.
boost::json::value explain_incident(const boost::json::value& incident);

}  // namespace wardmote::cli
