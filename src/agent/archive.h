#pragma once

#include <cstdint>

#include "base/result.h"
#include "judge/change.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/history.h"

namespace wardmote::agent {

/// Writes down what the feed tells. Life cycle: open() before the first keep(), stop() before
/// destruction; what it borrows outlives it. Thread: the core loop.
class Archive {
 public:
  /// `database` may be null: then it remembers until the agent ends.
  Archive(runtime::Runtime& runtime, runtime::Database* database) : history_(runtime, database) {}

  /// Reads what earlier lives of the agent wrote.
  runtime::Task<Result<void>> open() { return history_.open(); }
  runtime::Task<void> stop() { return history_.stop(); }

  /// `incident` is the one that the change belongs to, 0 for none.
  void keep(const judge::Change& change, std::int64_t incident);
  [[nodiscard]] const store::History& history() const noexcept { return history_; }

 private:
  store::History history_;
};

/// A change as the history keeps it.
store::Event event_of(const judge::Change& change);

}  // namespace wardmote::agent
