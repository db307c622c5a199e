#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>

#include "cli/render/style.h"

namespace wardmote::cli {

/// One cluster of the API (`/api/v1/clusters/NAME`, `assess`): a title line, the members side by side, the findings.
std::string draw_cluster(const boost::json::value& cluster, Style style);

/// The members table alone, of any number of clusters; `with_cluster` adds a first column with the cluster's name.
std::string draw_members(std::span<const boost::json::value> clusters, bool with_cluster, Style style);

}  // namespace wardmote::cli
