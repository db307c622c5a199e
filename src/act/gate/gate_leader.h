#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/gate/gate_node.h"
#include "act/gate/range_view.h"
#include "act/gate/reconciler.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/plan/planner.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/leader.h"
#include "judge/version_gate/report.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/election.h"
#include "store/plan_record.h"
#include "store/store.h"

namespace wardmote::act::gate {

struct LeaderOptions {
  judge::version_gate::Timing timing;
  Duration ttl{};  ///< of the lease in the election
  /// Where the record is that pauses everything (store/plan_record.h); while it is there and holds,
  /// this node writes nothing. Empty: nobody can pause.
  std::string pause_key{};
};

/// The part of a node that reconciles. It stands in the gate's election while its release is the
/// highest that is registered and it is registered itself. When it leads, it does what
/// judge/version_gate's Leader says, and every write carries the fence of the election. At two
/// thirds of its lease, when somebody else changed what it stands on, or when everything is paused,
/// its pass ends before it does anything else. A pause whose record cannot be read holds, and so
/// does one that is not known yet.
/// Life cycle: start() after the node, stop() before it; what it borrows outlives it. Thread: the
/// core loop.
class GateLeader {
 public:
  GateLeader(runtime::Runtime& runtime, store::Store& store, GateNode& node, Reconciler& reconciler,
             LeaderOptions options);

  void start();
  /// Stops, and resigns: another may lead at once.
  runtime::Task<void> stop();

  [[nodiscard]] bool leads() const noexcept { return election_ && election_->leads(); }
  /// Who paused this gate or everything; nothing: nobody.
  [[nodiscard]] std::optional<judge::plan::Pause> pause() const;
  /// The pause is that of everything, and this gate is not paused by itself.
  [[nodiscard]] bool all_paused() const;
  /// Why it takes no part now.
  [[nodiscard]] std::optional<std::string> complaint() const;

 private:
  using Leader = judge::version_gate::Leader;

  runtime::Task<void> run();
  /// Stands in the election for as long as it may.
  runtime::Task<void> stand();
  /// One step of the leader, or of one that waits for its turn.
  runtime::Task<void> step();
  runtime::Task<void> settle_pass();
  runtime::Task<void> rest(TimePoint until);
  runtime::Task<void> begin_pass();
  runtime::Task<void> say_if_long();
  runtime::Task<void> commit(judge::version_gate::Write write);
  runtime::Task<void> pass();
  /// Ends a pass that may not go on, and waits until it has ended.
  runtime::Task<void> end_pass();
  /// A leader remembers nothing of an earlier time.
  void forget();
  runtime::Task<void> alarm(TimePoint at);
  runtime::Task<void> say(std::string step, std::string why, std::vector<std::string> nodes);
  [[nodiscard]] store::Transaction transaction_of(const judge::version_gate::Write& write,
                                                  store::Compare fence) const;
  [[nodiscard]] bool may_stand() const;
  [[nodiscard]] std::optional<judge::plan::Pause> pause_in(
      const std::optional<store::KeyValue>& record) const;
  [[nodiscard]] bool may_pass() const;
  void wake();
  void wake_at(TimePoint at);

  runtime::Runtime& runtime_;
  store::Store& store_;
  GateNode& node_;
  Reconciler& reconciler_;
  const LeaderOptions options_;
  RangeView pauses_;
  mutable store::PauseReader pause_reader_;
  std::unique_ptr<store::Election> election_;
  std::optional<Leader> leader_;
  bool lost_ = false;  ///< it no longer leads, or did not for a moment
  store::Revision token_ = 0;
  bool passing_ = false;
  TimePoint long_after_;
  std::optional<Result<void>> passed_;  ///< how the pass ended; nothing: it was cancelled
  runtime::TaskGroup::TaskId pass_task_ = 0;
  bool disturbed_ = false;  ///< something is no longer as the last pass has left it
  bool well_ = false;       ///< the last pass since the claim went well
  std::optional<judge::version_gate::Progress> said_;
  bool dirty_ = true;
  runtime::Event woken_;
  std::optional<TimePoint> alarm_at_;
  runtime::TaskGroup::TaskId alarm_task_ = 0;
  runtime::TaskGroup passes_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::gate
