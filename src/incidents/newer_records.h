#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "incidents/record_writer.h"
#include "runtime/task.h"

namespace wardmote::incidents {

/// What the store had of incidents, notifications and silences before an older copy came into its
/// place. The first who leads in the new history of the store, and knows it, writes it over the
/// copy; from then on what the others know is old. Life cycle: `records` outlives it. Thread: the
/// core loop.
class NewerRecords {
 public:
  using Records = std::map<std::string, std::string>;  ///< by key

  explicit NewerRecords(RecordWriter& records) : records_(records) {}

  /// The store was set back, and has the history of this number now; `before` is what it had. What
  /// is kept already stays: `before` is of the copy then. Somebody leads within minutes: later it
  /// is of no use, whatever became of it.
  void keep(Records before, std::uint64_t history, TimePoint now);
  /// The records of notifications as they are in the store now: somebody may have led.
  void see(const Records& notifications);
  /// Whether nobody has led in the new history: the store has what the copy says.
  [[nodiscard]] bool is_due(TimePoint now) const noexcept;
  /// For who begins to lead, in the history of this number, before it reads. Errors are the
  /// store's; then it can be done again.
  runtime::Task<Result<void>> put_back(std::uint64_t history, TimePoint now);
  /// For who went on to lead, and has written what it knows.
  void led_on(std::uint64_t history);

 private:
  struct Kept {
    Records records;
    std::uint64_t history = 0;
    TimePoint at;
  };
  runtime::Task<Result<void>> write(Kept kept, Records notifications);

  RecordWriter& records_;
  std::optional<Kept> kept_;
};

}  // namespace wardmote::incidents
