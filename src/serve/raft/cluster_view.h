#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/observation.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "serve/look_times.h"
#include "serve/raft/cluster_metrics.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr Family kClusterFamily{judge::ThingKind::kCluster, "clusters", "/api/v1/clusters",
                                       "/api/v1/clusters/{name}", kClusterMetrics};

/// Counters of one member since the agent's start.
struct MemberCounters {
  LookTimes looks;
  /// Failed probes by class, over both ways to ask.
  std::map<judge::ReasonCode, std::uint64_t> errors;
};

/// Counters of one cluster since the agent's start.
struct ClusterCounters {
  std::uint64_t judgements = 0;
  /// Rounds in which at least one member could not be asked in full.
  std::uint64_t collect_errors = 0;
  /// Changes of the leader to another server, however long there was no leader in between.
  std::uint64_t leader_transitions = 0;
  std::uint64_t elections = 0;          ///< terms that began
  std::vector<MemberCounters> members;  ///< in the order of the opinions
};

/// One watched raft cluster, as judged last. Its JSON:
///
/// {"cluster", "database", "cluster_id", "at", "verdict": "ok|warning|critical|unknown", "leader":
/// member|null,
///  "quorum": {"voters", "needed", "live"}, "every_ms",
///  "members": [{"name", "server_id", "cluster_id", "address", "outcome": "ok|warn|fail|unknown",
///  "reason": code|null,
///    "detail", "mode", "role", "term", "leader", "vote", "log": [start, next], "uncommitted",
///    "unapplied", "status", "connected", "index", "election_timer_ms", "connections": ["->b8af",
///    "(<-77f0)"], "servers": [{"nickname", "id", "address", "self", "phase", "next_index",
///    "match_index", "last_msg_ms"}], "age_ms", "looks"}],
///  "findings", "observed"}
class ClusterView final : public ThingView {
 public:
  explicit ClusterView(std::string name = {})
      : ThingView({judge::ThingKind::kCluster, std::move(name)}) {}

  judge::raft::Expectation expectation;  ///< includes the name of the database
  std::vector<judge::raft::Opinion> opinions;
  judge::raft::Assessment assessment;
  Duration every{};  ///< time between two rounds
  ClusterCounters counters;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  [[nodiscard]] std::optional<judge::Verdict> verdict() const noexcept override {
    return assessment.verdict;
  }
  [[nodiscard]] std::string owner() const override;
  /// The member if the finding names one, else the cluster.
  [[nodiscard]] std::string component_of(const judge::Finding& finding) const override;
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;
};

/// The cluster id of the leader that answers, else of the first member that knows one, else the
/// last known one.
judge::raft::MemberId cluster_id_of(const ClusterView& cluster);

/// The names of a cluster and of a member in the graph of incidents.
std::string cluster_node(std::string_view cluster);
std::string member_node(std::string_view cluster, std::string_view member);

}  // namespace wardmote::serve
