#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/observation.h"
#include "judge/raft/assess.h"

namespace wardmote::serve {

/// One watched raft cluster, as judged last.
struct ClusterView {
  std::string name;
  judge::raft::Expectation expectation;  ///< carries the database's name
  std::vector<judge::raft::Opinion> opinions;
  judge::raft::Assessment assessment;
  TimePoint judged;  ///< when `assessment` was made
  Duration every{};  ///< time between two looks
};

/// One check, as it stands now.
struct CheckView {
  std::string name;
  std::string kind;
  judge::CheckState state;
  judge::CheckPolicy policy;
  bool optional = false;
  judge::Reason reason;  ///< of the last observation
  TimePoint last_begun;
  TimePoint last_ended;
  std::uint64_t looks = 0;
  Duration every{};
};

/// A set of checks behind /livez, /readyz or a name of the operator's.
struct GateView {
  std::string name;
  bool ready = false;
  std::vector<std::string> failing;  ///< the checks that hold it back
};

/// Everything that serve shows. The agent owns and updates it; both run on the core loop.
struct AgentView {
  std::string node;
  TimePoint now;
  WallTime wall_now;
  TimePoint started;
  std::optional<std::string> complaint;  ///< why the agent itself is degraded
  std::vector<ClusterView> clusters;
  std::vector<CheckView> checks;
  std::vector<GateView> gates;
};

}  // namespace wardmote::serve
