#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/reconcile/adoption.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Under which conditions a pass is made.
struct PassTerms {
  bool dry = true;  ///< nothing is written: it says what it would do
  runtime::Deadline deadline;
  std::int64_t token = 0;  ///< of the leader, as gate::PassOrder has it
  judge::reconcile::Adoptions adopt{};
  /// As gate::PassOrder has it.
  std::function<std::optional<TimePoint>()> write_until{};

  /// Writes down that something is about to be written; asked once, before the first write. An
  /// error: nothing is written. Empty: nobody wants to know.
  std::function<runtime::Task<Result<void>>()> announce{};

  /// Told how many of the objects were treated; a pass in which that is quick need not tell. Empty:
  /// nobody wants to know.
  std::function<void(std::size_t treated, std::size_t objects)> advanced{};

  /// Whether something may be written now.
  [[nodiscard]] bool may_write() const { return !write_until || write_until().has_value(); }
};

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
                                                           PassTerms terms) = 0;

  /// Calls `drifted`, at most once, when somebody changes what the last pass has left as it should
  /// be. It ends with stop_watching(), which is called before the next pass and before destruction.
  /// A target that cannot tell does nothing.
  virtual void watch(const std::function<void()>& /*drifted*/) {}
  virtual runtime::Task<void> stop_watching() { co_return; }
};

}  // namespace wardmote::act::reconcile
