#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/journal_entry.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/records.h"

namespace wardmote::store {

using judge::JournalEntry;

/// What a look at the whole chain found.
struct JournalVerdict {
  std::int64_t rows = 0;
  std::int64_t removed = 0;  ///< older rows, which a row of the journal says were removed
  /// What is wrong, for people; nothing: each row is as it was written, and none is missing.
  std::optional<std::string> fault;
};

struct JournalLimits {
  std::int64_t rows = 100'000;
  Duration age = std::chrono::days(400);
  /// These stay however old they are: also when the wall clock is wrong.
  std::int64_t newest = 1000;
  std::int64_t trim_every = 500;  ///< rows
};

/// The append-only journal of everything that acts. Each row holds a hash (SHA-256) of itself and
/// of the row before it, and a record holds the last one, so that a row that was edited, removed or
/// put in between is found. Who can write the file and knows this can still write another history
/// from some row on: an auditor compares the last hash with one that he kept. The oldest rows go
/// when the limits say so: a row of the kind `trimmed` tells which was the last and its hash, and
/// so does a record, the anchor, from which the chain goes on. Without a database it remembers
/// until the agent ends. Thread: the core loop.
class Journal {
 public:
  static constexpr std::size_t kRemembered = 1000;

  /// `database` may be null.
  Journal(runtime::Runtime& runtime, runtime::Database* database, JournalLimits limits = {});

  /// Makes the table, reads the newest rows, and takes the next fencing token, which ends the right
  /// of an earlier agent to write here. After the records' own open().
  runtime::Task<Result<void>> open();
  /// The row, on stable storage when it returns; `at` when it happened (now, where that is not
  /// said). One call at a time. kRejected: a later agent has taken the next token.
  runtime::Task<Result<void>> append(JournalEntry entry);

  /// The newest, oldest first.
  [[nodiscard]] const std::deque<JournalEntry>& recent() const noexcept { return recent_; }
  [[nodiscard]] std::int64_t token() const noexcept { return token_; }
  /// Drawn when the journal was made; no two have the same. Empty without a database.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Whether it outlives the agent.
  [[nodiscard]] bool stored() const noexcept { return database_ != nullptr; }

 private:
  struct Head {
    std::int64_t sequence = 0;
    std::string hash;
  };
  runtime::Task<Result<void>> take_token();
  runtime::Task<Result<void>> read_id();
  runtime::Task<Result<void>> read_head();
  runtime::Task<Result<void>> read_recent();
  /// `changes` and `also` are done in the same transaction.
  runtime::Task<Result<void>> write(JournalEntry entry, RecordChanges changes,
                                    std::vector<runtime::SqlStatement> also);
  runtime::Task<Result<void>> trim();
  void remember(JournalEntry entry);

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  JournalLimits limits_;
  std::int64_t token_ = 0;
  std::string id_;
  std::int64_t since_trim_ = 0;  ///< rows
  std::optional<Head> head_;     ///< nothing: to be read again
  std::deque<JournalEntry> recent_;
};

/// Gives every row that is there to `each`, oldest first, with its hash in hexadecimal. Says
/// nothing of whether they are as they were written. kProtocol: a row that nobody wrote. `runtime`
/// and `database` outlive it.
runtime::Task<Result<void>> read_journal(
    runtime::Runtime* runtime, runtime::Database* database,
    std::function<void(const JournalEntry& entry, const std::string& hash)> each);

/// Reads the whole chain. Errors are those of the database; a fault in the chain is no error.
/// `runtime` and `database` outlive it.
runtime::Task<Result<JournalVerdict>> verify_journal(runtime::Runtime* runtime,
                                                     runtime::Database* database);

}  // namespace wardmote::store
