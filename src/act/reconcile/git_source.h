#pragma once

#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/options.h"
#include "act/reconcile/source.h"
#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// The files of a commit, as `git` reads them: neither what somebody edits in the work tree nor a
/// checkout that is half done. Life cycle: `processes` outlives it.
class GitSource final : public Source {
 public:
  GitSource(runtime::Processes& processes, GitOptions options)
      : processes_(processes), options_(std::move(options)) {}

  runtime::Task<Result<SourceFiles>> read(runtime::Deadline deadline) override;
  [[nodiscard]] std::string describe() const override;

 private:
  /// What `git` prints.
  runtime::Task<Result<std::string>> run(std::vector<std::string> arguments, std::string input,
                                         runtime::Deadline deadline);
  /// kRejected: there is no repository whose work tree begins there.
  runtime::Task<Result<void>> check_work_tree(runtime::Deadline deadline);
  runtime::Task<Result<void>> check_folders_above(std::string commit, runtime::Deadline deadline);
  /// The id of the commit. kRejected: there is none, or the name means several things.
  runtime::Task<Result<std::string>> find_commit(runtime::Deadline deadline);

  runtime::Processes& processes_;
  const GitOptions options_;
};

}  // namespace wardmote::act::reconcile
