#pragma once

#include <vector>

#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// What is kept as a folder says. One pass at a time; when it is cancelled, it has stopped writing
/// when the cancelled task has ended.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  /// Makes everything as the files `wanted` say, or says what it would do. All of them are read
  /// before anything is written.
  virtual runtime::Task<judge::reconcile::PassReport> pass(std::vector<runtime::TreeFile> wanted,
                                                           bool dry,
                                                           runtime::Deadline deadline) = 0;
};

}  // namespace wardmote::act::reconcile
