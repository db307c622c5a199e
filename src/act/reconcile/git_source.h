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

  runtime::Processes& processes_;
  const GitOptions options_;
};

}  // namespace wardmote::act::reconcile
