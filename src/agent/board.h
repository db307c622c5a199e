#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/change_feed.h"
#include "agent/config/config.h"
#include "base/time.h"
#include "judge/observation.h"
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

  /// Check `check` was looked at.
  void check_observed(std::size_t check, const judge::Observation& seen, TimePoint now);
  /// Member `member` of cluster `cluster` was looked at; counts only.
  void member_observed(std::size_t cluster, std::size_t member, const judge::raft::Opinion& seen);
  /// Cluster `cluster` was judged; `final_of_round` when no member's answer is awaited any more. A
  /// round is fed to the cluster's check once.
  void cluster_judged(std::size_t cluster, std::vector<judge::raft::Opinion> opinions,
                      judge::raft::Assessment assessment, TimePoint now, bool final_of_round);
  /// A heartbeat ran `lateness` late; `complaint` is why the agent is degraded, if it is.
  void heart_beat(Duration lateness, std::optional<std::string> complaint);
  /// A piece of bad news was void because the agent was starved.
  void voided() noexcept { ++view_.self.voided; }

  /// How the scheduler fares.
  void set_look_lateness(const serve::SelfView::LookLateness& lateness) noexcept {
    view_.self.look_lateness = lateness;
  }
  /// Of every cluster and check by its name.
  void set_missed(const std::function<std::uint64_t(const std::string& name)>& missed);

  /// The id under which the event stream knows the last change.
  void set_last_event(std::string id) { view_.last_event = std::move(id); }

  /// The view as of `now`.
  [[nodiscard]] const serve::AgentView& view(TimePoint now, WallTime wall_now);

 private:
  void feed(serve::CheckView& check, judge::Outcome outcome, judge::Reason reason, TimePoint now);
  void count(std::size_t cluster);
  void update_gates();

  ChangeFeed& feed_;
  serve::AgentView view_;  // checks: one for each cluster first, then the configured ones
  std::vector<std::vector<std::size_t>> gates_;  // by gate, the indexes of its checks
  std::vector<judge::raft::MemberId> leaders_;   // by cluster, the last that was known
  std::vector<std::uint64_t> terms_;             // by cluster, the highest seen
};

}  // namespace wardmote::agent
