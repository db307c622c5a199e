#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/change_feed.h"
#include "agent/companions.h"
#include "agent/config/config.h"
#include "agent/reload_plan.h"
#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/gate.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "serve/view.h"

namespace wardmote::agent {

/// What all watchers report to: feeds the check machines and gates, keeps the view that is served,
/// counts, and tells the feed what changed. Time is a parameter. Life cycle: one for
/// the agent; outlives whoever reports. Thread: the core loop.
class Board {
 public:
  /// Clusters and checks have the indexes that they have in `config`, which need not outlive the
  /// board; `feed` does.
  Board(const config::Config& config, std::string node, ChangeFeed& feed, TimePoint now);

  /// Goes over to another configuration by `plan`, which leads to `config`. What is kept or retimed
  /// keeps its state and counters; gates that stay tell only of changes.
  void reload(const config::Config& config, std::string node, const ReloadPlan& plan,
              TimePoint now);

  /// Check `check` was looked at.
  void check_observed(std::size_t check, const judge::Observation& seen, TimePoint now);
  /// Member `member` of cluster `cluster` was looked at; counts only.
  void member_observed(std::size_t cluster, std::size_t member, const judge::raft::Opinion& seen);
  /// Cluster `cluster` was judged; `final_of_round` when no member's answer is awaited any more. A
  /// round is fed to the cluster's check once.
  void cluster_judged(std::size_t cluster, std::vector<judge::raft::Opinion> opinions,
                      judge::raft::Assessment assessment, TimePoint now, bool final_of_round);
  /// The mesh of this name was judged.
  void mesh_judged(const std::string& name, std::vector<serve::MeshView::Node> nodes,
                   judge::bgp::MeshAssessment assessment, TimePoint now);
  /// A heartbeat ran `lateness` late; `complaint` is why the agent is degraded, if it is.
  void heart_beat(Duration lateness, std::optional<std::string> complaint);
  /// A piece of bad news was void because the agent was starved.
  void voided() noexcept { ++view_.self.voided; }

  /// Which configuration runs, and what became of the last reload.
  void set_config(serve::ConfigView config) { view_.config = std::move(config); }
  /// How the scheduler fares.
  void set_look_lateness(const serve::SelfView::LookLateness& lateness) noexcept {
    view_.self.look_lateness = lateness;
  }
  /// Of every cluster and check by its name.
  void set_missed(const std::function<std::uint64_t(const std::string& name)>& missed);

  /// The id under which the event stream knows the last change.
  void set_last_event(std::string id) { view_.last_event = std::move(id); }

  /// As judged last.
  [[nodiscard]] const serve::ClusterView& cluster(std::size_t index) const {
    return view_.clusters.at(index);
  }
  /// The view as of `now`.
  [[nodiscard]] const serve::AgentView& view(TimePoint now, WallTime wall_now);

 private:
  /// What is behind the gate of the same index in the view.
  struct Gate {
    judge::GateRule rule;
    judge::GateTally tally;
    bool failing_stale = false;  ///< those that fail, in the view
  };
  /// What one check means to one gate.
  struct Share {
    std::uint32_t check;
    std::uint32_t gate;
    bool among_all;
    std::uint32_t weight;  ///< 0: not among `at_least`
  };

  void feed(std::size_t index, judge::Outcome outcome, judge::Reason reason, TimePoint now);
  void count(std::size_t cluster);
  void set_meshes(const config::Config& config, const ReloadPlan& plan, TimePoint now);
  void set_gates(const std::vector<config::Gate>& gates);
  void add_shares(std::size_t gate);
  [[nodiscard]] judge::GateStanding standing(std::size_t check) const;
  void standing_changed(std::size_t check, judge::GateStanding before);
  void tell_gate(std::size_t gate);
  void find_failing(std::size_t gate);

  ChangeFeed& feed_;
  serve::AgentView view_;  // checks: one for each cluster first, then the configured ones
  Companions companions_;
  std::vector<Gate> gates_;
  std::vector<Share> shares_;                   // sorted by check
  std::vector<judge::raft::MemberId> leaders_;  // by cluster, the last that was known
  std::vector<std::uint64_t> terms_;            // by cluster, the highest seen
};

/// What the verdict on a cluster means to its check.
judge::Outcome outcome_of(judge::raft::Verdict verdict) noexcept;

}  // namespace wardmote::agent
