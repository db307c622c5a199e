#include "judge/raft/sighting.h"

#include <string>
#include <vector>

#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

void Sightings::hear(const std::string& by, const Opinion& opinion) {
  const MemberId server = opinion.server_id();
  if (server.full() && !server.zero()) {
    seen_[by] = {server, opinion.cluster_id(), by, opinion.begun, true};
    return;
  }
  const auto before = seen_.find(by);
  if (before != seen_.end()) before->second.still = false;
}

std::vector<Sighting> Sightings::besides(const std::string& cluster) const {
  std::vector<Sighting> others;
  const std::string own = member(cluster, "");
  for (const auto& [by, sighting] : seen_) {
    if (!by.starts_with(own)) others.push_back(sighting);
  }
  return others;
}

}  // namespace wardmote::judge::raft
