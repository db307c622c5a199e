#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/ovn/cluster_board.h"
#include "agent/scheduler.h"
#include "config/config.h"
#include "judge/finding.h"
#include "judge/raft/memory.h"
#include "judge/raft/repair_view.h"
#include "judge/raft/sighting.h"
#include "judge/self/starvation_guard.h"
#include "observe/ovn/cluster.h"
#include "observe/ovn/server_watch.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {

/// Watches one raft cluster: looks at all members at once, judges what they say together, and
/// reports to the board. A member that is slow delays no other: the rest is judged without it, and
/// again when its answer comes. Life cycle: everything it is given outlives it; round() and the
/// watches are tasks of the caller's, who shares it with them, since after retire() they still have
/// to end. Thread: the core loop.
class ClusterWatch : public std::enable_shared_from_this<ClusterWatch> {
 public:
  /// How long the first judgement of a round waits for slow members.
  static constexpr Duration kPatience = std::chrono::milliseconds(100);

  /// `sightings` hears of every look, and tells of those of others.
  ClusterWatch(runtime::Runtime& runtime, ClusterBoard& board, Scheduler& scheduler,
               const judge::StarvationGuard& guard, judge::raft::Sightings& sightings,
               std::size_t index, const config::Cluster& cluster);

  /// Called after the judgement of each whole round.
  using Judged = std::function<void(ClusterWatch& watch, std::span<const judge::Finding> findings)>;
  void on_judged(Judged judged) { judged_ = std::move(judged); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// On the board.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// The cluster as the last looks show it.
  [[nodiscard]] judge::raft::RepairView repair_view() const;

  /// Looks once at all members, by the deadline.
  runtime::Task<void> round(runtime::Deadline deadline);
  /// Has the scheduler look at once whenever a member's database server tells of a change of its
  /// own accord.
  void watch_changes(runtime::TaskGroup& group);

  /// The cluster has another index on the board from now on.
  void move_to(std::size_t index) noexcept { index_ = index; }
  /// Whether it asks one of its members as that one did, of the same name and database.
  [[nodiscard]] bool looks_at_the_same(const ClusterWatch& other) const;
  /// Takes over what `earlier` remembers of the same members, so that windows go on. A member that
  /// is asked in another way may be another server.
  void inherit(ClusterWatch& earlier);
  /// Ends the watches of changes, and reports nothing any more.
  void retire() noexcept;

 private:
  static runtime::Task<void> keep_watching(std::shared_ptr<ClusterWatch> self,
                                           observe::ovn::ServerWatch* watch);
  runtime::Task<void> judge_after(TimePoint at);
  void void_if_starved(judge::raft::Opinion& opinion);
  void heard(std::size_t member, judge::raft::Opinion opinion);
  void judge();

  runtime::Runtime& runtime_;
  ClusterBoard& board_;
  Scheduler& scheduler_;
  const judge::StarvationGuard& guard_;
  judge::raft::Sightings& sightings_;
  std::size_t index_;
  std::string name_;
  std::vector<config::Member> configured_;
  judge::raft::Expectation expectation_;
  observe::ovn::Cluster members_;
  std::vector<std::unique_ptr<observe::ovn::ServerWatch>> watches_;
  Judged judged_;
  judge::raft::Memory memory_;
  std::vector<judge::raft::Opinion> opinions_;  // the last of each member
  std::size_t awaited_ = 0;  // members whose answer of this round is not there yet
  bool patient_ = false;     // the first judgement of this round is still to come
  bool retired_ = false;
  runtime::TaskGroup* group_ = nullptr;  // of the watches of changes
  std::vector<runtime::TaskGroup::TaskId> watching_;
};

}  // namespace wardmote::agent
