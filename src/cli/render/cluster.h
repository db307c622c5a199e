#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>

#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// One cluster of the API (`/api/v1/clusters/NAME`, `assess`): a title line, the members side by
/// side, the findings.
std::string draw_cluster(const boost::json::value& cluster, Style style);

/// The same without the findings.
std::string draw_cluster_head(const boost::json::value& cluster, Style style);

/// Whether a member of the API reported anything.
bool speaks(const Fields& member);

/// Members of the API side by side. If they name their cluster, it is the first column.
std::string draw_members(std::span<const boost::json::value> members, Style style);

}  // namespace wardmote::cli
