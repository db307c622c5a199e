#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// What somebody knows of a server who does not look at it as a member of the judged cluster:
/// another cluster of the configuration, a check, another agent.
struct Sighting {
  MemberId server;         ///< not known: it has never answered, and may be any
  MemberId cluster;        ///< that it belongs to; may be unknown
  std::string by;          ///< `ovn-nb-old/ctl-2`, `check ovn-local`
  TimePoint at;            ///< when it answered last
  bool still = false;      ///< it answered the last look
  std::string database{};  ///< that it is asked for
  friend bool operator==(const Sighting&, const Sighting&) = default;
};

/// Who was answered by which server, from every look of the agent at one, and what other agents say
/// of theirs. Holds an entry for each that looks, whatever they have seen.
class Sightings {
 public:
  /// A look of `by` at a server.
  void hear(const std::string& by, const Opinion& opinion);
  /// What others than the members of this cluster have seen; of servers that certainly belong to
  /// another one than `id` nothing.
  [[nodiscard]] std::vector<Sighting> besides(const std::string& cluster, const MemberId& id) const;
  /// What this agent's looks have seen, for other agents: each server once, those first that still
  /// answer anybody, and last those that never said who they are.
  [[nodiscard]] std::vector<Sighting> here() const;
  /// What another agent says of its looks, in place of what it said before; nothing once it is
  /// away.
  void hear_agent(const std::string& node, std::vector<Sighting> seen);
  /// Of this agent nobody looks at anything any more, as far as is known: who still does will tell.
  void forget_own() noexcept { seen_.clear(); }

  /// How a cluster's member is called in `by`.
  static std::string member(const std::string& cluster, const std::string& member) {
    return cluster + "/" + member;
  }

 private:
  std::map<std::string, Sighting> seen_;                 // by who looks
  std::map<std::string, std::vector<Sighting>> agents_;  // by node
};

}  // namespace wardmote::judge::raft
