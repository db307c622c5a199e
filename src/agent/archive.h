#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/change_text.h"
#include "store/history.h"
#include "store/samples.h"

namespace wardmote::agent {

/// Writes down what the feed tells, and measures of what is seen. Life cycle: open() before the
/// first keep(), stop() before destruction; what it borrows outlives it. Thread: the core loop.
class Archive {
 public:
  /// `database` may be null: then it remembers until the agent ends.
  Archive(runtime::Runtime& runtime, runtime::Database* database)
      : history_(runtime, database), samples_(runtime, database) {}

  /// Reads what earlier lives of the agent wrote.
  runtime::Task<Result<void>> open();
  runtime::Task<void> stop();

  /// `incident` is the one that the change belongs to, 0 for none.
  void keep(const judge::Change& change, const serve::ChangeText& text, std::int64_t incident);
  /// A check was looked at.
  void measure(const std::string& check, const judge::Observation& seen);
  /// The same of whatever else was looked at.
  void measure(const std::string& subject, judge::Outcome outcome, Duration took);
  /// Why it cannot write now.
  [[nodiscard]] std::optional<std::string> complaint() const;
  [[nodiscard]] const store::History& history() const noexcept { return history_; }
  [[nodiscard]] store::Samples& samples() noexcept { return samples_; }

 private:
  store::History history_;
  store::Samples samples_;
};

/// A change as the history keeps it.
store::Event event_of(const judge::Change& change, const serve::ChangeText& text);

}  // namespace wardmote::agent
