#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/raft/sighting.h"
#include "store/presence.h"

namespace wardmote::agent {

/// What the agents that share a store tell each other of servers of raft clusters that answer them:
/// one that leads must not remove a server which another agent sees alive. Life cycle: what it
/// borrows outlives it. Thread: the core loop.
class SharedServers {
 public:
  /// `node`: of this agent.
  SharedServers(std::string node, store::Presence& presence, judge::raft::Sightings& sightings);

  /// Has written down what is seen here, if that is another list than before.
  void tell();
  /// The record of another agent as it is now; an agent that is not present sees nothing.
  void hear(const std::string& node, const std::string& record, bool present, TimePoint now);

 private:
  const std::string key_;
  store::Presence& presence_;
  judge::raft::Sightings& sightings_;
  std::optional<std::string> told_;
  std::map<std::string, std::string> heard_;  // records by node
};

}  // namespace wardmote::agent
