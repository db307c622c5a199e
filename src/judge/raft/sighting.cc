#include "judge/raft/sighting.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
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

std::vector<Sighting> Sightings::besides(const std::string& cluster, const MemberId& id) const {
  std::vector<Sighting> others;
  const auto may_be_of_it = [&](const Sighting& sighting) {
    return !id.known() || !sighting.cluster.known() || compatible(sighting.cluster, id);
  };
  const std::string own = member(cluster, "");
  for (const auto& [by, sighting] : seen_) {
    if (!by.starts_with(own) && may_be_of_it(sighting)) others.push_back(sighting);
  }
  for (const auto& [node, seen] : agents_)
    std::ranges::copy_if(seen, std::back_inserter(others), may_be_of_it);
  return others;
}

std::vector<Sighting> Sightings::here() const {
  std::map<MemberId, Sighting> servers;
  for (const auto& [by, sighting] : seen_) {
    if (sighting.still) servers.emplace(sighting.server, sighting);
  }
  std::vector<Sighting> list;
  list.reserve(servers.size());
  for (auto& [server, sighting] : servers) list.push_back(std::move(sighting));
  return list;
}

void Sightings::hear_agent(const std::string& node, std::vector<Sighting> seen) {
  if (seen.empty()) {
    agents_.erase(node);
  } else {
    agents_[node] = std::move(seen);
  }
}

}  // namespace wardmote::judge::raft
