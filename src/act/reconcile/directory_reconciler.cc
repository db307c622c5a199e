#include "act/reconcile/directory_reconciler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/gate/reconciler.h"
#include "base/result.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using judge::reconcile::PassReport;
using runtime::Task;

Task<void> DirectoryReconciler::run(bool dry) {
  const runtime::Deadline deadline = runtime_.deadline_in(timeout_);
  std::string folder = folder_;
  auto wanted = co_await files_.read_tree(std::move(folder), runtime::TreeLimits());
  if (!wanted) {
    PassReport report{.dry = dry, .begun = runtime_.wall_now()};
    report.faults.push_back("manifests: " + wanted.error().describe());
    last_ = std::make_shared<const PassReport>(std::move(report));
    co_return;
  }
  std::vector<runtime::TreeFile> files = *std::move(wanted);
  PassReport report = co_await target_->pass(std::move(files), dry, deadline);
  last_ = std::make_shared<const PassReport>(std::move(report));
}

Task<Result<void>> DirectoryReconciler::pass(gate::PassOrder /*order*/) {
  co_await run(false);
  if (last_->good()) co_return Result<void>();
  co_return fail(Errc::kRejected, "{}", judge::reconcile::summary_of(*last_));
}

Task<void> DirectoryReconciler::look() {
  co_await run(true);
}

}  // namespace wardmote::act::reconcile
