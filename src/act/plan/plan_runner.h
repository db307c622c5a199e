#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/act_log.h"
#include "act/acts.h"
#include "act/plan/step_executor.h"
#include "base/result.h"
#include "base/time.h"
#include "control/plan_control.h"
#include "control/written.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/journal_entry.h"
#include "judge/plan/consent.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/clock_pair.h"
#include "store/follower.h"
#include "store/leadership.h"
#include "store/number_mark.h"
#include "store/plan_record.h"
#include "store/records.h"
#include "store/shared_note.h"
#include "store/store.h"

namespace wardmote::act {

/// Has plans made of what the judge found, and carries out those that may begin: step by step, each
/// on a look that begins after its intent was written down, each with its result written down
/// after. Who lets it act is asked again before each step, and so is whether this agent leads. A
/// plan that an earlier life or another agent had begun goes on from what was written. Life cycle:
/// open() before heard(), stop() before destruction; what it borrows outlives it. Thread: the core
/// loop.
class PlanRunner final : public control::PlanControl {
 public:
  /// What it asks others for.
  struct Doors {
    std::function<void(const judge::ThingId& target)> look;  ///< at all of it, at once
    std::function<void(judge::ThingId of, judge::Event event)> tell;
    std::function<bool()> storm;  ///< rages: nothing may act
    /// The open incident that a finding of this target belongs to; 0: none.
    std::function<std::int64_t(const judge::ThingId& target)> incident;
    /// Whether what is written down would not be found again.
    std::function<bool()> folder_lost = [] { return false; };
    /// Marks, or not, where also a full disk takes it, that a later life must doubt_orders().
    std::function<void(bool doubt)> mark = [](bool) {};
    /// After a start nothing acts for so long.
    Duration quiet{};
  };
  /// Where it keeps what outlives it.
  struct Memory {
    runtime::Database* journal = nullptr;  ///< this agent's own; null: nothing runs
    store::Store* store = nullptr;         ///< for plans and pauses; null: nothing runs
    store::Leadership& leadership;         ///< among those who share the store
    bool shared = false;                   ///< others share it: what they write is followed
  };
  /// What the configuration says.
  struct Setup {
    std::vector<judge::plan::Policy> policies;
    std::vector<judge::ThingId> targets;  ///< that plans may be for
    /// Kinds of things that are found at run time: all of these that somebody has seen.
    std::vector<judge::ThingKind> found{};
  };

  PlanRunner(runtime::Runtime& runtime, Memory memory, Setup setup, StepExecutor& executor,
             Doors doors);

  /// Reads what earlier lives wrote down. Until it has, nothing is planned and nothing runs; when
  /// it fails, it may be tried again.
  runtime::Task<Result<void>> open();
  runtime::Task<void> stop();

  /// Whether somebody wants to know of this target.
  [[nodiscard]] bool cares_for(const judge::ThingId& target) const noexcept {
    return planner_.cares_for(target);
  }
  /// A round of looks at the target was judged.
  void heard(const std::shared_ptr<const judge::plan::Remedy>& seen,
             std::span<const judge::Finding> findings);
  /// The target is not there any more; a plan for it that runs looks by itself.
  void forget(const judge::ThingId& target);
  /// The configuration is another now.
  void reload(Setup setup);

  [[nodiscard]] const judge::plan::Planner& planner() const noexcept override { return planner_; }
  [[nodiscard]] const std::deque<judge::JournalEntry>& actions() const noexcept override {
    return log_.journal().recent();
  }
  [[nodiscard]] bool stored() const noexcept override { return log_.journal().stored(); }
  [[nodiscard]] std::optional<std::string> frozen() const override;
  Result<std::int64_t> propose(std::string_view target, std::string_view subject,
                               std::string by) override;
  Result<void> approve(std::int64_t id, std::string by, std::string comment) override;
  Result<void> reject(std::int64_t id, std::string by, std::string comment) override;
  /// Orders may be lost: everything is paused as soon as this agent leads.
  void doubt_orders(std::string why);
  /// Whether something that may forbid acts is known, and not written down yet, or not for sure.
  void owe(const std::string& what, bool owes);
  /// Tells other agents of such a doubt. It borrows the runner.
  std::unique_ptr<store::SharedNote> make_note();
  Result<void> pause(std::string scope, std::optional<Duration> time, std::string by) override;
  Result<void> resume(std::string scope, std::string by) override;
  std::shared_ptr<control::Written> written() override { return last_put_; }
  /// For others who act; null until the journal is open.
  [[nodiscard]] ActLog* act_log() noexcept { return opened_ ? &log_ : nullptr; }
  /// The fencing token of this agent's journal.
  [[nodiscard]] std::int64_t token() const noexcept { return log_.journal().token(); }
  /// Why no act may begin there now; nothing: one may.
  [[nodiscard]] std::optional<std::string> brake(const judge::ThingId& target) const;

 private:
  static constexpr std::string_view kNotOpen = "the journal could not be opened yet";

  using Seen = std::shared_ptr<const judge::plan::Remedy>;
  class StepAct;
  class Alarm;
  class DoubtNote;
  struct InDoubt {
    judge::JournalEntry row;
    store::RecordChanges state;
  };

  /// Null: it is not configured.
  [[nodiscard]] const judge::ThingId* target_of(std::string_view name) const noexcept;
  [[nodiscard]] bool is_configured(const judge::ThingId& target) const noexcept;
  /// As far as it was looked at; else empty.
  [[nodiscard]] std::vector<std::string> identities_of(const judge::ThingId& target) const;
  /// Why it must be left alone; nothing: it stands in the configuration once.
  [[nodiscard]] std::optional<std::string> other_name(const judge::ThingId& target) const;
  [[nodiscard]] bool is_adrift(const judge::plan::Pause& pause) const;
  void learn_identity(const judge::plan::Remedy& seen);
  runtime::Task<void> keep(store::RecordChanges changes);
  /// Why nothing may act, and nobody may let it.
  [[nodiscard]] std::optional<std::string> barred() const;
  /// Why the plans are another agent's to change; nothing: they are ours.
  [[nodiscard]] std::optional<std::string> not_ours() const;
  [[nodiscard]] Result<void> takes_orders() const;
  [[nodiscard]] judge::plan::Consent consent(const judge::plan::Plan& plan) const;
  void warn_of_policies() const;
  void on_leadership(bool leads);
  /// Reads the plans anew, since another agent may have led.
  runtime::Task<void> take_over();
  /// kRejected: leadership was lost or won meanwhile.
  runtime::Task<Result<void>> load();
  void recall_plans(const std::map<std::string, std::string>& records,
                    const store::ClockPair& clock, judge::plan::Planner& planner) const;
  runtime::Task<Result<void>> look_for_lost_orders(std::optional<std::int64_t> last_in_store);
  void miss_order(const judge::JournalEntry& row);
  void hear_doubt(const std::string& node, const std::string& why);
  [[nodiscard]] std::optional<std::string> standing_doubt() const;
  runtime::Task<void> leave_doubts_to(judge::plan::Pause of_all);
  void end_doubts();
  void mark_doubt();
  void remember_newer();
  void recall_newer(judge::plan::Planner& planner);
  [[nodiscard]] store::RecordChanges records_of(const judge::plan::Planner& planner) const;
  [[nodiscard]] store::RecordChanges known_of(store::RecordChanges these,
                                              const judge::plan::Planner& planner) const;
  runtime::Task<void> write_newer();
  runtime::Task<Result<void>> keep_newer(const judge::plan::Planner* planner);
  void see_to_doubts();
  InDoubt pause_in_doubt(judge::plan::Planner& planner, const store::ClockPair& clock);
  runtime::Task<Result<void>> begin_lead(judge::plan::Planner* planner);
  /// Another agent leads, and has written something.
  void follow();
  runtime::Task<void> read_again();
  void watch_storm();
  runtime::Task<void> keep_storm(bool storm);
  void take_changes(const std::string& actor, const std::string& comment = "");
  void start_running();
  void put(judge::JournalEntry entry, store::RecordChanges state);
  store::RecordChanges number_changes(std::int64_t last);
  runtime::Task<void> keep_last_number();
  struct Unwritten;
  runtime::Task<void> write(judge::JournalEntry entry, store::RecordChanges state,
                            std::shared_ptr<control::Written> written);
  static constexpr Duration kStayAwake = std::chrono::milliseconds(250);
  /// Wakes who waits on the event now and then (kStayAwake), the last time at that moment.
  runtime::Task<void> wake(runtime::Event* event, TimePoint at);

  /// Null: it does not run any more.
  [[nodiscard]] const judge::plan::Plan* running(std::int64_t id) const noexcept;
  runtime::Task<void> run(std::int64_t id);
  void note_life(const judge::plan::Remedy& seen);
  /// A look that begins after now; null when none comes in time.
  runtime::Task<Seen> fresh_look(judge::ThingId target, runtime::Deadline deadline);
  runtime::Task<void> do_step(std::int64_t id);
  runtime::Task<void> settle(std::int64_t id, judge::plan::Decision decision);
  void wait_for(std::int64_t id, std::string reason);
  [[nodiscard]] judge::JournalEntry entry_of(const judge::plan::Plan& plan, std::string kind,
                                             std::string detail) const;
  [[nodiscard]] store::RecordChanges record_of(const judge::plan::Plan& plan) const;
  void tell(const judge::plan::Plan& plan, judge::PlanChanged::Of of, std::string word,
            std::string step, std::string detail);

  runtime::Runtime& runtime_;
  const bool remembers_;  ///< there is a journal and a store
  store::Leadership& leadership_;
  Setup setup_;
  StepExecutor& executor_;
  Doors doors_;
  judge::plan::Planner planner_;
  ActLog log_;
  Acts acts_;
  std::map<judge::ThingId, Seen> known_;  ///< the last look at each target
  runtime::Event looked_;
  std::set<std::int64_t> running_;  ///< plans that have a task
  /// Plans of which a step is being done, as they were when it was begun.
  std::map<std::int64_t, judge::plan::Plan> acting_;
  /// Of the newest entry; the log writes in the order in which it was given.
  std::shared_ptr<control::Written> last_put_;
  bool opened_ = false;
  bool loaded_ = false;      ///< the plans are as the store has them
  bool reading_ = false;     ///< what another agent has written
  bool read_again_ = false;  ///< and it has written more
  std::vector<std::unique_ptr<store::Follower>> followers_;
  store::PauseReader pause_reader_;
  /// Why orders may be lost, until it is written down that everything is paused, or somebody
  /// resumes.
  std::optional<std::string> doubt_;
  std::uint64_t orders_ = 0;
  std::set<std::string> owed_;
  bool marked_ = false;  ///< for a later life
  /// What was known when an older copy came in the place of the store, until it is in there.
  std::optional<judge::plan::Planner> newer_;
  std::map<std::string, std::string> doubts_of_others_;  ///< by node, as long as nobody paused
  std::uint64_t term_ = 0;   ///< counts the times that leadership was lost or the plans were read
  bool storm_kept_ = false;  ///< it is written down that a storm rages
  TimePoint storm_until_;    ///< an earlier life ended in a storm
  TimePoint quiet_until_;
  bool stopped_ = false;
  store::NumberMark numbers_;
  std::size_t unwritten_ = 0;  ///< orders that are being written down
  runtime::Event all_written_;
  runtime::TaskGroup writes_;
  runtime::TaskGroup tasks_;
  runtime::TaskGroup alarms_;
  runtime::TaskGroup deeds_;
};

}  // namespace wardmote::act
