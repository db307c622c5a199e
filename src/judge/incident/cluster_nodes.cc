#include "judge/incident/cluster_nodes.h"

#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "judge/incident/news.h"

namespace wardmote::judge::incident {

std::string cluster_node(std::string_view cluster) {
  return fmt::format("cluster:{}", cluster);
}

std::string member_node(std::string_view cluster, std::string_view member) {
  return fmt::format("member:{}/{}", cluster, member);
}

void add_cluster(Dependencies& known, const std::string& cluster,
                 std::span<const std::string> members) {
  const std::string node = cluster_node(cluster);
  CheckPlace& place = known.checks[cluster];
  place.owner = node;
  place.has_findings = true;
  place.optional = false;
  known.graph.add(node, "cluster");
  for (const std::string& member : members)
    known.graph.add(member_node(cluster, member), "member", {node});
}

}  // namespace wardmote::judge::incident
