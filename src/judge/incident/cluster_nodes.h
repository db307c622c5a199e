#pragma once
// How clusters and their members are called in the graph of incidents, whatever program they run.

#include <span>
#include <string>
#include <string_view>

#include "judge/incident/news.h"

namespace wardmote::judge::incident {

/// `cluster:nb`.
std::string cluster_node(std::string_view cluster);
/// `member:nb/ctl-1`.
std::string member_node(std::string_view cluster, std::string_view member);

/// The cluster above its members. The check of its name is the cluster itself, which has findings.
void add_cluster(Dependencies& known, const std::string& cluster,
                 std::span<const std::string> members);

}  // namespace wardmote::judge::incident
