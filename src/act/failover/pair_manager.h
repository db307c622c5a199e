#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "act/act_log.h"
#include "act/acts.h"
#include "act/failover/content_watch.h"
#include "act/failover/replica.h"
#include "act/gate/range_view.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/ovn_global.h"
#include "control/written.h"
#include "judge/failover/duty.h"
#include "judge/failover/member.h"
#include "judge/failover/report.h"
#include "runtime/event.h"
#include "runtime/links.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "runtime/tls.h"
#include "store/election.h"
#include "store/failover_record.h"
#include "store/leadership.h"
#include "store/presence.h"
#include "store/store.h"

namespace wardmote::act::failover {

/// Programs of the operator, each with its first arguments; empty: there is none.
struct PairHooks {
  /// Run with the name of the pair and of the last active node before a promotion: a status other
  /// than 0 forbids it for a while.
  std::vector<std::string> pre_promote;
  /// Run with `on_role_change`, `primary` or `replica`, and the name of the pair.
  std::vector<std::string> on_role_change;
  Duration timeout = std::chrono::seconds(10);
};

/// A pair of databases in active/backup mode, and this node's part in it.
struct PairOptions {
  std::string name;
  std::string node;
  std::vector<std::string> members;  ///< all nodes, this one included
  ReplicaFiles nb;
  ReplicaFiles sb;
  std::string nb_file;  ///< of the database itself
  std::string sb_file;
  std::string nb_source;  ///< `tcp:10.0.0.1:6641`: where the others copy from this node
  std::string sb_source;
  runtime::VirtualAddress address;
  Duration ttl = std::chrono::seconds(6);
  bool acts = false;  ///< false: it shows what it would do
  bool nofailover = false;
  int priority = 0;
  /// Run with the name of the last active node before a promotion, unless that node gave up in good
  /// order. Empty: there is none.
  std::vector<std::string> fence;
  Duration fence_timeout = std::chrono::seconds(10);
  PairHooks hooks;
  /// With which the others' servers are asked, where their sources are of `ssl:`.
  std::optional<runtime::TlsSettings> tls;
};

/// Keeps one writable copy of a pair behind one address, without Pacemaker: what judge::failover's
/// table of duties says, on this node. Leads by a lease in the store; at two thirds of it, and
/// whenever the lease is lost, the address goes at once and both copies become read-only. The
/// kernel takes the address away by itself when this process does not prolong it. Life cycle:
/// start(), then stop() before destruction; what it borrows outlives it. Thread: the core loop.
class PairManager {
 public:
  /// `journal` gives the agent's journal once it is open, and null before.
  PairManager(runtime::Runtime& runtime, store::Store& store, runtime::Links& links,
              PairOptions options, std::function<ActLog*()> journal);
  ~PairManager();

  void start();
  /// Gives up in good order, to a backup that has everything where there is one.
  runtime::Task<void> stop();

  [[nodiscard]] const PairOptions& options() const noexcept { return options_; }
  [[nodiscard]] judge::failover::PairReport report() const;

  /// An order is a record in the store: the active node takes it up, or the node that it names.
  std::shared_ptr<control::Written> order(const store::FailoverOrder& order);
  /// One at a time.
  std::shared_ptr<control::Written> schedule(const store::FailoverSchedule& schedule);
  std::shared_ptr<control::Written> flush();
  std::shared_ptr<control::Written> edit(const store::FailoverEdit& edit);
  std::shared_ptr<control::Written> pause(const store::FailoverPause& pause);
  std::shared_ptr<control::Written> resume();

 private:
  class Leader;
  class Promotion;
  using Member = judge::failover::Member;
  using PairRecord = judge::failover::PairRecord;

  runtime::Task<void> run();
  runtime::Task<void> tick();
  runtime::Task<void> hear_store();
  runtime::Task<void> keep_address();
  void wake();

  // What is (pair_facts.cc).
  runtime::Task<void> look();
  runtime::Task<void> assess();
  void take_position(const std::optional<codec::GlobalRow>& nb,
                     const std::optional<codec::GlobalRow>& sb, bool ever_promoted);
  void take_fitness();
  void be_unfit(std::string why);
  [[nodiscard]] judge::failover::Copy copy_of(const ReplicaState& state,
                                              const std::string& source) const;
  void remember();
  runtime::Task<judge::failover::Source> judge_source();
  runtime::Task<judge::failover::Source> judge_database(Replica* replica, std::string source);
  void decide();
  [[nodiscard]] judge::failover::Lock find_lock() const;
  [[nodiscard]] bool promoted_here() const noexcept;
  /// In this term, and all nodes know of it.
  [[nodiscard]] bool announced() const;
  [[nodiscard]] bool leads() const noexcept { return election_ && election_->leads(); }
  [[nodiscard]] std::optional<store::KeyValue> leader_key() const;
  [[nodiscard]] PairRecord record() const;
  [[nodiscard]] std::vector<Member> peers() const;
  /// Asked now, and not when it last looked: the lease may be over.
  [[nodiscard]] bool serves() const;
  [[nodiscard]] std::optional<store::FailoverOrder> open_order() const;
  [[nodiscard]] bool forces_this_node() const;
  [[nodiscard]] std::optional<store::FailoverPause> paused() const;
  [[nodiscard]] judge::failover::Choice choice() const;
  void publish();

  // What is done (pair_acts.cc).
  /// Whether everything is to be looked at again at once.
  runtime::Task<bool> carry_out(judge::failover::NextDuty next);
  void drop_address(std::string_view why);
  Result<void> take_address();
  runtime::Task<void> go_without_address(std::string why);
  runtime::Task<void> announce_address();
  runtime::Task<Result<void>> isolate();
  runtime::Task<bool> step_down(bool distrust, std::string_view why);
  runtime::Task<bool> follow_active();
  void stand();
  runtime::Task<void> resign();
  void note(std::string_view step, std::string_view kind, std::string detail);
  runtime::Task<void> write_note(ActLog* journal, ActRecord record);

  // What is kept, and the room for it (pair_copies.cc).
  void look_at_disks();
  Result<void> enough_room(std::uint64_t copies);
  runtime::Task<Result<void>> set_copies_aside();
  runtime::Task<Result<void>> run_tool(std::vector<std::string> argv, std::string what);
  runtime::Task<void> forget_old_copies(std::string file, std::string made);

  // The promotion and its end (pair_promotion.cc).
  runtime::Task<bool> promote();
  /// Why this node is not to be promoted, as the store and its servers say now; nothing: it is.
  /// `begun`: its programs ran for it.
  runtime::Task<std::optional<std::string>> objection_now(bool begun, runtime::Deadline deadline);
  runtime::Task<Result<void>> run_programs(std::uint64_t epoch);
  runtime::Task<Result<std::string>> become_active();
  runtime::Task<Result<void>> write_pair(PairRecord record, std::vector<store::StoreChange> more);
  runtime::Task<void> publish_position();
  runtime::Task<Result<void>> hand_over(std::string heir, Duration patience);

  // The programs of the operator (pair_hooks.cc).
  void look_at_programs();
  runtime::Task<Result<void>> run_hook(runtime::ProcessSpec spec, std::string what,
                                       Duration timeout);
  runtime::Task<Result<void>> run_while_leading(runtime::ProcessSpec spec, std::string what,
                                                Duration timeout);
  runtime::Task<Result<void>> fence_last();
  runtime::Task<Result<void>> ask_hook();
  runtime::Task<void> tell_roles();
  runtime::Task<void> tell_role(bool primary, Duration timeout);

  // What operators want (pair_orders.cc).
  [[nodiscard]] std::string heir_for(const store::FailoverOrder& order, std::string* refusal) const;
  /// That `key` is in the store as the view shows it.
  [[nodiscard]] store::Compare as_seen(const std::string& key) const;
  [[nodiscard]] store::FailoverSettings settings_of(std::string_view node) const;
  [[nodiscard]] std::optional<store::FailoverSchedule> scheduled() const;
  runtime::Task<void> begin_scheduled();
  runtime::Task<void> serve_order();
  runtime::Task<void> give_way();
  runtime::Task<void> answer_order(std::string answer);
  std::shared_ptr<control::Written> write(store::Transaction transaction,
                                          std::string otherwise = {});
  runtime::Task<void> write_and_tell(store::Transaction transaction, std::string otherwise,
                                     std::shared_ptr<control::Written> written);

  runtime::Runtime& runtime_;
  store::Store& store_;
  runtime::Links& links_;
  const PairOptions options_;
  const store::FailoverKeys keys_;
  const std::function<ActLog*()> journal_;
  gate::RangeView view_;
  ContentWatch content_;  ///< of the northbound database
  ContentWatch sb_content_;
  Replica nb_;
  Replica sb_;
  mutable store::FailoverPauseReader pause_reader_;
  store::Presence presence_;
  std::unique_ptr<store::Election> election_;
  std::unique_ptr<Leader> leader_;

  ReplicaState nb_state_;
  ReplicaState sb_state_;
  std::optional<TimePoint> silent_;  ///< since when a server does not answer
  Member own_;
  judge::failover::Source source_ = judge::failover::Source::kUnknown;
  judge::failover::Candidacy candidacy_;
  judge::failover::NextDuty decided_;
  judge::failover::Lock lock_ = judge::failover::Lock::kUnknown;

  std::optional<ProcessId> promoted_nb_;
  std::optional<ProcessId> promoted_sb_;
  std::int64_t promoted_token_ = 0;  ///< in which term that was announced
  TimePoint promoted_at_ = TimePoint::min();
  std::optional<ProcessId> backup_nb_;  ///< was seen as a backup
  std::optional<ProcessId> backup_sb_;
  bool was_active_ = false;  ///< it was writable before this pair ever had a promotion
  judge::failover::SyncState sync_ = judge::failover::SyncState::kUnknown;
  std::string unfit_;
  bool distrusted_ = false;
  /// What it had when it was last seen as a backup.
  std::optional<judge::failover::ContentHash> backup_content_;
  std::optional<TimePoint> unfit_until_;      ///< nothing: until it followed the active node
  std::string full_;                          ///< which disk is; empty: none
  TimePoint gave_way_at_ = TimePoint::min();  ///< since then it did not try to, because of a disk
  bool holds_address_ = false;
  std::optional<TimePoint> addressless_;  ///< since when it could not take the address
  /// How often in a row a copy became writable by itself soon after it began to follow, as where
  /// the schemas differ (ovsdb/replication.c), and when it is tried again.
  int relapses_ = 0;
  std::optional<TimePoint> followed_at_;  ///< when it last began to follow
  TimePoint follow_after_ = TimePoint::min();
  std::optional<TimePoint> heard_;     ///< when the store last answered this node
  std::optional<TimePoint> view_bad_;  ///< since when what is in view is not followed
  bool heir_ = false;                  ///< the active node waits for this copy to have everything
  TimePoint rest_until_;               ///< before it stands again
  TimePoint position_at_;
  std::optional<judge::failover::ContentHash> position_told_;
  std::string told_;       ///< of the member's record
  std::string told_core_;  ///< the same without what changes with each commit
  TimePoint told_at_;
  std::optional<std::string> complaint_;
  std::optional<std::string> address_complaint_;
  std::optional<std::string> hook_complaint_;
  std::optional<std::string> program_complaint_;
  std::optional<bool> told_primary_;  ///< which role the operator's program was told last
  bool dirty_ = true;
  runtime::Event woken_;
  runtime::TaskGroup writes_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::failover
