#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// That a server answered somebody who does not look at it as a member of the judged cluster:
/// another cluster of the configuration, a check, another agent.
struct Sighting {
  MemberId server;
  MemberId cluster;  ///< that it belongs to; may be unknown
  std::string by;    ///< `ovn-nb-old/ctl-2`, `check ovn-local`
  TimePoint at;      ///< when it answered last
  bool still = false;  ///< it answered the last look
  friend bool operator==(const Sighting&, const Sighting&) = default;
};

/// Who was answered by which server, from every look of the agent at one. Holds an entry for each
/// that looks, whatever they have seen.
class Sightings {
 public:
  /// A look of `by` at a server.
  void hear(const std::string& by, const Opinion& opinion);
  /// What others than the members of this cluster have seen.
  [[nodiscard]] std::vector<Sighting> besides(const std::string& cluster) const;
  /// Nobody looks at anything any more, as far as is known: who still does will tell.
  void forget_all() noexcept { seen_.clear(); }

  /// How a cluster's member is called in `by`.
  static std::string member(const std::string& cluster, const std::string& member) {
    return cluster + "/" + member;
  }

 private:
  std::map<std::string, Sighting> seen_;  // by who looks
};

}  // namespace wardmote::judge::raft
