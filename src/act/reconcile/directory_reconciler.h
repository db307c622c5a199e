#pragma once

#include <memory>
#include <string>

#include "act/gate/reconciler.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/reconcile/report.h"
#include "runtime/file_tree.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Keeps a target as the files of a folder say. Life cycle: what it borrows outlives it. Thread:
/// the core loop.
class DirectoryReconciler final : public gate::Reconciler {
 public:
  DirectoryReconciler(runtime::Runtime& runtime, runtime::FileTree& files, std::string folder,
                      std::unique_ptr<Target> target, Duration timeout)
      : runtime_(runtime),
        files_(files),
        folder_(std::move(folder)),
        target_(std::move(target)),
        timeout_(timeout) {}

  runtime::Task<Result<void>> pass(gate::PassOrder order) override;
  /// What a pass would do. Not while one is under way.
  runtime::Task<void> look();

  /// The last pass; null: there was none.
  [[nodiscard]] std::shared_ptr<const judge::reconcile::PassReport> last() const { return last_; }

 private:
  runtime::Task<void> run(bool dry);

  runtime::Runtime& runtime_;
  runtime::FileTree& files_;
  const std::string folder_;
  std::unique_ptr<Target> target_;
  const Duration timeout_;
  std::shared_ptr<const judge::reconcile::PassReport> last_;
};

}  // namespace wardmote::act::reconcile
