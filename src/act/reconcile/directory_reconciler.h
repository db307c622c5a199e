#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "act/act_log.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/journal_entry.h"
#include "judge/reconcile/report.h"
#include "runtime/file_tree.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::reconcile {

struct DirectoryOptions {
  std::string folder;
  Duration timeout{};  ///< of a pass
  std::string gate;    ///< for the journal
  std::string node;
  /// Null while the journal is not open yet: then nothing is written.
  std::function<ActLog*()> journal{};
};

/// Keeps a target as the files of a folder say. A pass that writes has two rows in the journal: its
/// intent before the first write, and what came of it. Life cycle: stop() before destruction; what
/// it borrows outlives it. Thread: the core loop.
class DirectoryReconciler final : public gate::Reconciler {
 public:
  DirectoryReconciler(runtime::Runtime& runtime, runtime::FileTree& files,
                      std::unique_ptr<Target> target, DirectoryOptions options)
      : runtime_(runtime),
        files_(files),
        target_(std::move(target)),
        options_(std::move(options)),
        notes_(runtime.executor()) {}

  runtime::Task<Result<void>> pass(gate::PassOrder order) override;
  void listen(const std::function<void()>& disturbed) override { disturbed_ = disturbed; }
  runtime::Task<void> stop() override;
  /// What a pass would do. Not while one is under way.
  runtime::Task<void> look();

  /// The last pass; null: there was none.
  [[nodiscard]] std::shared_ptr<const judge::reconcile::PassReport> last() const { return last_; }

 private:
  class Announced;

  runtime::Task<void> run(PassTerms terms);
  runtime::Task<Result<void>> announce(gate::PassOrder order);
  runtime::Task<void> note(judge::JournalEntry entry);
  [[nodiscard]] judge::JournalEntry entry(std::string kind, std::string detail) const;

  runtime::Runtime& runtime_;
  runtime::FileTree& files_;
  std::unique_ptr<Target> target_;
  const DirectoryOptions options_;
  std::function<void()> disturbed_;  ///< empty: nobody wants to know
  bool announced_ = false;           ///< the pass under way is in the journal, its end is not
  std::shared_ptr<const judge::reconcile::PassReport> last_;
  runtime::TaskGroup notes_;
};

}  // namespace wardmote::act::reconcile
