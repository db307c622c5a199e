#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "act/failover/replica.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ocf/cluster.h"
#include "cli/ocf/code.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "cli/ocf/state_file.h"
#include "judge/failover/candidate.h"
#include "judge/failover/decision.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli::ocf {

/// Both databases of this node at one moment.
struct Pair {
  act::failover::ReplicaState nb;
  act::failover::ReplicaState sb;

  [[nodiscard]] bool any_active() const noexcept { return nb.active() || sb.active(); }
  [[nodiscard]] bool both_active() const noexcept { return nb.active() && sb.active(); }
  [[nodiscard]] bool down() const noexcept;
  [[nodiscard]] bool backups() const noexcept;
};

/// One action of the resource agent: what Pacemaker asks for, on this node, now. What to do is
/// decided by judge::failover::decide(); this class finds out and carries out. Life cycle: one for
/// each run of the program; `runtime` outlives it. Thread: the core loop.
class Agent {
 public:
  Agent(runtime::Runtime& runtime, Parameters parameters, Notification notification);

  runtime::Task<Code> start();
  runtime::Task<Code> stop();
  runtime::Task<Code> monitor();
  runtime::Task<Code> promote();
  runtime::Task<Code> demote();
  runtime::Task<Code> notify();

  /// Tells a running wardmoted what became of the action.
  void report_result(std::string_view action, Code code) const;

 private:
  using Lock = judge::failover::Lock;

  // What is (agent_facts.cc).
  runtime::Task<Pair> look();
  [[nodiscard]] judge::failover::Copy copy_of(const act::failover::ReplicaState& state,
                                              const DatabaseParameters& database) const;
  [[nodiscard]] judge::failover::Situation situation(const Pair& pair, Lock lock) const;
  [[nodiscard]] bool promoted_by_us(const Pair& pair) const noexcept;
  /// How far this copy is. Without `signs` only what a decision needs: epoch, rows and state.
  runtime::Task<judge::failover::Position> position(Pair pair, bool signs);
  runtime::Task<Lock> find_lock(Pair pair);
  runtime::Task<judge::failover::Source> judge_source(std::string holder, TimePoint until);
  runtime::Task<judge::failover::Source> judge_database(act::failover::Replica* replica,
                                                        judge::failover::Position own,
                                                        TimePoint until);
  runtime::Task<judge::failover::Source> judge_published(std::string holder,
                                                         judge::failover::Position own);
  [[nodiscard]] const DatabaseParameters& database_of(
      const act::failover::Replica* replica) const noexcept {
    return replica == &nb_ ? parameters_.nb : parameters_.sb;
  }
  runtime::Task<void> know_node();

  // What is done to both at once (agent_roles.cc).
  runtime::Task<Result<void>> isolate();
  runtime::Task<Result<void>> let_clients_in();
  runtime::Task<void> keep_clients_out();
  runtime::Task<void> set_listeners(bool follows);
  runtime::Task<Result<void>> make_active();
  runtime::Task<Result<void>> make_backup();
  /// `sight_unseen`: also when neither the address nor what the holder published says what is
  /// there.
  runtime::Task<void> follow(std::string holder, Duration patience, bool sight_unseen);
  runtime::Task<void> step_down(std::string reason);
  void end_servers(const Pair& pair);
  runtime::Task<Result<void>> run_ovn_ctl(std::vector<std::string> arguments);
  runtime::Task<Result<void>> start_northd();
  runtime::Task<Result<void>> stop_northd();
  [[nodiscard]] bool northd_runs() const;
  runtime::Task<bool> may_have_more(std::string active);
  Result<void> set_copies_aside();
  runtime::Task<Result<void>> prepare_copy(Pair pair, std::string active);
  void save();
  void forget_promotion();

  // What the cluster is told (agent_news.cc).
  [[nodiscard]] bool told_long_ago() const noexcept;
  runtime::Task<int> score_backup(Pair pair, judge::failover::Position own, bool compare);
  runtime::Task<void> tell(Pair pair, bool always);
  runtime::Task<void> demand(int points);
  runtime::Task<void> announce_promotion(std::uint64_t epoch);
  [[nodiscard]] bool settled(const Pair& pair) const;
  [[nodiscard]] std::string told_of(int points, const judge::failover::Position& own,
                                    bool settled) const;

  // Parts of actions.
  [[nodiscard]] std::vector<std::string> start_arguments() const;
  runtime::Task<Code> wait_started();
  runtime::Task<Code> check_active(Code code);
  runtime::Task<void> stamp_again();
  runtime::Task<Code> judge_pair(Pair pair, Lock lock, judge::failover::Position own);
  [[nodiscard]] Code code_of_unanswered(const Pair& pair) const;
  Code code_of_backups(const Pair& pair);
  [[nodiscard]] bool is_leaving(std::string_view node) const;
  runtime::Task<Code> yield_to(std::string better);
  runtime::Task<Code> refuse(judge::failover::Decision decision, std::string better);
  runtime::Task<Code> become_active(std::uint64_t epoch);
  runtime::Task<void> check_right();
  runtime::Task<void> prepare_promotion();
  runtime::Task<void> see_own_promotion();
  runtime::Task<void> see_other_promotion(std::string active);

  /// The reason that Pacemaker shows beside the result of the action.
  void reason(std::string_view text);
  void log(std::string_view level, std::string_view text) const;
  [[nodiscard]] runtime::Deadline deadline() const noexcept { return deadline_; }

  runtime::Runtime& runtime_;
  Parameters parameters_;
  Notification notification_;
  runtime::Deadline deadline_;
  Cluster cluster_;
  State state_;
  std::string last_reason_;  ///< the last that was shown
  bool acted_ = false;       ///< a role was changed, so that what was seen before is old
  std::string unfollowed_;   ///< why this node does not follow the active one, though it should
  act::failover::Replica nb_;
  act::failover::Replica sb_;
};

}  // namespace wardmote::cli::ocf
