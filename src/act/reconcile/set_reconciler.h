#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "act/act_log.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/source.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/journal_entry.h"
#include "judge/reconcile/adoption.h"
#include "judge/reconcile/report.h"
#include "judge/version_gate/status.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::reconcile {

struct SetOptions {
  Duration timeout{};  ///< of a pass
  std::string gate;    ///< for the journal
  std::string node;
  /// Null while the journal is not open yet: then nothing is written.
  std::function<ActLog*()> journal{};
};

/// Keeps a target as the files of a source say. A pass that writes has two rows in the journal: its
/// intent before the first write, and what came of it. Life cycle: stop() before destruction; what
/// it borrows outlives it. Thread: the core loop.
class SetReconciler final : public gate::Reconciler {
 public:
  SetReconciler(runtime::Runtime& runtime, std::unique_ptr<Source> source,
                std::unique_ptr<Target> target, SetOptions options)
      : runtime_(runtime),
        source_(std::move(source)),
        target_(std::move(target)),
        options_(std::move(options)),
        notes_(runtime.executor()) {}

  runtime::Task<Result<void>> pass(gate::PassOrder order) override;
  void listen(const std::function<void()>& disturbed) override { disturbed_ = disturbed; }
  runtime::Task<void> stop() override;
  /// What a pass would do. Not while one is under way.
  runtime::Task<void> look();

  /// Has the next pass of this leader take over one object, whoever owns it now: the very one that
  /// the last pass has seen. The order is in the journal before it is done, and what came of it
  /// after. `words` as find_adoptable() reads them; kMissing and kRejected as it says.
  Result<std::shared_ptr<control::Written>> adopt(std::string_view words, std::string by);

  /// The pass under way; nothing: there is none.
  [[nodiscard]] const std::optional<judge::reconcile::PassProgress>& progress() const noexcept {
    return progress_;
  }
  /// The last pass; null: there was none.
  [[nodiscard]] std::shared_ptr<const judge::reconcile::PassReport> last() const { return last_; }
  [[nodiscard]] const judge::reconcile::Tally& tally() const noexcept { return tally_; }
  /// The last pass, if the leader with this token made it; else null.
  [[nodiscard]] std::shared_ptr<const judge::reconcile::PassReport> last_of(
      judge::version_gate::Revision token) const {
    return last_token_ == token ? last_ : nullptr;
  }

 private:
  /// An order to take over an object.
  struct Adoption {
    std::string uid;
    std::string by;
    judge::version_gate::Revision token = 0;  ///< of the leader to whom it was given
  };
  class Announced;
  class UnderWay;

  runtime::Task<void> run(PassTerms terms);
  void keep(judge::reconcile::PassReport report, judge::version_gate::Revision token);
  runtime::Task<Result<void>> announce(gate::PassOrder order);
  runtime::Task<void> note(judge::JournalEntry entry);
  /// An agent that is killed in a pass leaves its intents without an end; its next life adds it.
  runtime::Task<void> end_earlier();
  runtime::Task<void> take_order(std::string object, Adoption adoption,
                                 std::shared_ptr<control::Written> written);
  runtime::Task<Result<void>> note_order(std::string object, Adoption adoption);
  /// Those that the pass of the leader with this token carries out; others are dropped.
  judge::reconcile::Adoptions begin_adoptions(judge::version_gate::Revision token);
  [[nodiscard]] judge::JournalEntry adoption_entry(const std::string& object,
                                                   const Adoption& adoption, std::string kind,
                                                   std::string detail) const;
  [[nodiscard]] judge::JournalEntry entry(std::string kind, std::string detail) const;

  runtime::Runtime& runtime_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Target> target_;
  const SetOptions options_;
  std::string state_;                ///< what the pass under way goes by, for people, escaped
  std::function<void()> disturbed_;  ///< empty: nobody wants to know
  bool earlier_ended_ = false;       ///< the journal has the ends of an earlier life's intents
  bool announced_ = false;           ///< the pass under way is in the journal, its end is not
  std::optional<judge::reconcile::PassProgress> progress_;
  std::shared_ptr<const judge::reconcile::PassReport> last_;
  judge::reconcile::Tally tally_;
  judge::version_gate::Revision last_token_ = 0;  ///< of `last_`; 0: it was a dry one
  judge::version_gate::Revision token_ = 0;       ///< of the last pass that was no dry one
  std::set<std::string> being_noted_;             ///< ordered, and not in the journal yet
  std::map<std::string, Adoption> ordered_;       ///< by what the object is called
  std::map<std::string, Adoption> under_way_;     ///< in the pass that runs
  runtime::TaskGroup notes_;
};

}  // namespace wardmote::act::reconcile
