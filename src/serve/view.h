#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/check_machine.h"
#include "judge/observation.h"
#include "judge/raft/assess.h"

namespace wardmote::serve {

/// How long looks took.
struct LookTimes {
  static constexpr std::array<double, 9> kBounds{0.0001, 0.00025, 0.0005, 0.001, 0.005,
                                                 0.025,  0.1,     0.5,    1};  ///< s
  std::array<std::uint64_t, kBounds.size() + 1> counts{};  ///< the last is what exceeds all bounds
  Duration sum{};

  void add(Duration took) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept;
};

/// Counted of one member since the agent's start.
struct MemberCounters {
  LookTimes looks;
  std::map<judge::ReasonCode, std::uint64_t>
      errors;  ///< failed looks by class, either way of asking
};

/// Counted of one cluster since the agent's start.
struct ClusterCounters {
  std::uint64_t judgements = 0;
  std::uint64_t collect_errors =
      0;  ///< judgements in which at least one member could not be asked in full
  std::uint64_t leader_transitions =
      0;                        ///< from one server to another, however long nobody led in between
  std::uint64_t elections = 0;  ///< terms that began
  std::vector<MemberCounters> members;  ///< in the order of the opinions
};

/// One watched raft cluster, as judged last.
struct ClusterView {
  std::string name;
  judge::raft::Expectation expectation;  ///< carries the database's name
  std::vector<judge::raft::Opinion> opinions;
  judge::raft::Assessment assessment;
  TimePoint judged;  ///< when `assessment` was made
  Duration every{};  ///< time between two looks
  ClusterCounters counters;
};

/// The cluster id of the leader that answers, else of the first member that knows one.
judge::raft::MemberId cluster_id_of(const ClusterView& cluster);

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
  std::uint64_t missed =
      0;  ///< looks that were left out, because one still ran or the agent did not
  Duration every{};
};

/// One BGP mesh, as judged last.
struct MeshView {
  /// One of its daemons. What it says of itself is empty while it says nothing.
  struct Node {
    std::string name;
    std::string version;
    std::string router_id;
    judge::Reason reason;  ///< when it says nothing
  };

  std::string name;
  std::vector<Node> nodes;
  judge::bgp::MeshAssessment assessment;
  TimePoint judged;
};

/// A set of checks behind /livez, /readyz or a name of the operator's.
struct GateView {
  std::string name;
  bool ready = false;
  /// Positions in AgentView::checks, because a gate may have ten thousand.
  std::vector<std::uint32_t> failing;  ///< that hold it back
  std::vector<std::uint32_t> checks;   ///< all of it, each once
};

/// How the agent itself is.
struct SelfView {
  /// How late looks began.
  struct LookLateness {
    Duration median{};
    Duration p99{};
    Duration max{};
  };

  std::optional<std::string> complaint;  ///< why it is degraded
  Duration lateness{};                   ///< of its last heartbeat
  Duration worst_lateness{};             ///< since its start
  std::uint64_t voided = 0;              ///< bad news that was void because the agent was starved
  LookLateness look_lateness;
};

/// Which configuration runs, and what became of the last attempt at another.
struct ConfigView {
  struct Refusal {
    TimePoint at;
    std::vector<std::string> problems;  ///< each with its place, safe to print
  };

  std::string path;   ///< empty: none was read from a file
  std::string hash;   ///< of what was read
  TimePoint applied;  ///< since when it runs
  std::uint64_t reloads_applied = 0;
  std::uint64_t reloads_unchanged = 0;  ///< asked for, and the files said the same as before
  std::uint64_t reloads_refused = 0;
  std::optional<Refusal> refused;  ///< the files now say something else, which is not valid
};

/// Everything that serve shows. The agent owns and updates it; both run on the core loop.
struct AgentView {
  std::string node;
  TimePoint now;
  WallTime wall_now;
  TimePoint started;
  std::string last_event;  ///< id of the last change that is in here (event_stream.h)
  SelfView self;
  ConfigView config;
  std::vector<ClusterView> clusters;
  std::vector<MeshView> meshes;
  std::vector<CheckView> checks;
  std::vector<GateView> gates;
};

/// The names of the checks at these positions.
std::vector<std::string> names_of(const std::vector<CheckView>& checks,
                                  std::span<const std::uint32_t> positions);

}  // namespace wardmote::serve
