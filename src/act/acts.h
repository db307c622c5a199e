#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "act/act_log.h"
#include "base/result.h"
#include "judge/journal_entry.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/leadership.h"
#include "store/records.h"

namespace wardmote::act {

/// A row of the journal, and the state that goes with it.
struct ActRecord {
  judge::JournalEntry entry;
  store::RecordChanges state;
};

/// One act on the world outside. Who wants it done implements this, and Acts calls it in this
/// order: intent(), recheck(), and then either carry_out() and ended(), or dropped().
class Act {
 public:
  Act() = default;
  Act(const Act&) = delete;
  Act& operator=(const Act&) = delete;
  virtual ~Act() = default;

  /// What is written down before anything is done. It says that the act was begun, so that whoever
  /// finds no end of it looks at what came of it.
  virtual ActRecord intent() = 0;
  /// Looks once more, after the intent is on stable storage. Why the act must not be done; nothing:
  /// it is done without any further wait.
  virtual runtime::Task<std::optional<std::string>> recheck(runtime::Deadline deadline) = 0;
  /// Does it, by the deadline. What came of it, for people.
  virtual runtime::Task<Result<std::string>> carry_out(runtime::Deadline deadline) = 0;
  /// It ended.
  virtual ActRecord ended(const Result<std::string>& did) = 0;
  /// Its intent was written down, in the store at least, and nothing was done.
  virtual ActRecord dropped(const std::string& why) = 0;
  /// Its intent could not be written down, so nothing was done.
  virtual void not_begun() = 0;
};

/// Carries acts out: the only way to change anything outside. Each act is journaled before it
/// begins and after it ended, is looked at once more between the two, and begins under a lease only
/// that was not lost meanwhile. Life cycle: what it is given outlives it. Thread: the core loop.
class Acts {
 public:
  enum class Outcome : std::uint8_t {
    kNotBegun,  ///< the intent could not be written down; it may be tried again
    kDropped,   ///< the intent was written down, and nothing was done
    kEnded,
  };

  Acts(runtime::Runtime& runtime, ActLog& log, const store::Leadership& leadership)
      : runtime_(runtime), log_(log), leadership_(leadership) {}

  /// `deadline` is the end of everything but the last row. `act` outlives it.
  runtime::Task<Outcome> carry_out(Act* act, runtime::Deadline deadline);
  /// Writes until it is written, or until another agent leads or has taken over the journal.
  runtime::Task<void> write_surely(ActRecord record);

 private:
  runtime::Runtime& runtime_;
  ActLog& log_;
  const store::Leadership& leadership_;
};

}  // namespace wardmote::act
