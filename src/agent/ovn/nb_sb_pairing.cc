#include "agent/ovn/nb_sb_pairing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/config.h"
#include "judge/raft/assess.h"
#include "judge/raft/companion.h"
#include "judge/raft/opinion.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::agent {
namespace {

using judge::raft::Opinion;
using judge::raft::Side;

struct Databases {
  std::string_view north;
  std::string_view south;
};

constexpr auto kDatabases = std::to_array<Databases>({
    {"OVN_Northbound", "OVN_Southbound"},
    {"OVN_IC_Northbound", "OVN_IC_Southbound"},
});

std::vector<std::size_t> clusters_with(const std::vector<config::Cluster>& clusters,
                                       std::string_view database) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i].expectation.database == database) found.push_back(i);
  }
  return found;
}

std::set<std::string_view> names_in(const config::Cluster& cluster) {
  std::set<std::string_view> names;
  for (const config::Member& member : cluster.members) names.insert(member.name);
  return names;
}

/// The southbound cluster of the same deployment: of members of the same names, or the only one for
/// the only northbound.
std::optional<std::size_t> find_companion(const std::vector<config::Cluster>& clusters,
                                          std::size_t north, const Databases& databases) {
  const std::vector<std::size_t> south = clusters_with(clusters, databases.south);
  if (south.size() == 1 && clusters_with(clusters, databases.north).size() == 1)
    return south.front();
  std::optional<std::size_t> found;
  for (const std::size_t candidate : south) {
    if (names_in(clusters[candidate]) != names_in(clusters[north])) continue;
    if (found) return std::nullopt;
    found = candidate;
  }
  return found;
}

std::chrono::milliseconds longest_timer(const std::vector<Opinion>& opinions) {
  std::chrono::milliseconds longest{1000};
  for (const Opinion& opinion : opinions) {
    if (opinion.status) longest = std::max(longest, opinion.status->election_timer);
  }
  return longest;
}

}  // namespace

NbSbPairing::NbSbPairing(const std::vector<config::Cluster>& clusters) : pairs_(clusters.size()) {
  for (const Databases& databases : kDatabases) {
    for (const std::size_t north : clusters_with(clusters, databases.north))
      pairs_[north].other = find_companion(clusters, north, databases);
  }
}

void NbSbPairing::compare(std::size_t index, const Own& own, judge::raft::Assessment& assessment,
                          const serve::ClusterView& companion, TimePoint now) {
  const Side own_side{own.name, assessment, now};
  const Side other_side{companion.id.name, companion.assessment, companion.judged};
  add_report(assessment, compare_sides(own_side, other_side, pairs_[index].tracker,
                                       longest_timer(own.opinions), now));
}

}  // namespace wardmote::agent
