#include "serve/view.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::serve {

using judge::raft::MemberId;
using judge::raft::Opinion;

void LookTimes::add(Duration took) noexcept {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  ++counts[static_cast<std::size_t>(bucket)];
  sum += took;
}

std::uint64_t LookTimes::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<std::string> names_of(const std::vector<CheckView>& checks,
                                  std::span<const std::uint32_t> positions) {
  std::vector<std::string> names;
  names.reserve(positions.size());
  for (const std::uint32_t position : positions) names.push_back(checks.at(position).name);
  return names;
}

MemberId cluster_id_of(const ClusterView& cluster) {
  if (cluster.assessment.leader) {
    const MemberId id = cluster.opinions[*cluster.assessment.leader].cluster_id();
    if (id.known()) return id;
  }
  for (const Opinion& opinion : cluster.opinions) {
    const MemberId id = opinion.cluster_id();
    if (id.known() && !id.zero()) return id;
  }
  return {};
}

}  // namespace wardmote::serve
