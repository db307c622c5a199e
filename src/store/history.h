#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text_row.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::store {

/// Something that changed, as people will want to read it later: a judge::Change that lasts.
struct Event {
  std::int64_t id = 0;  ///< ascending; given by the history
  WallTime at;
  std::string kind;           ///< `finding_raised`, …: docs/events.md
  std::string scope;          ///< what kind of thing: `cluster`, `check`, `gate`, `agent`, …
  std::string subject;        ///< its name
  std::string names;          ///< what else it is called, separated by blanks
  std::string code;           ///< of the finding; may be empty
  std::string severity;       ///< of the finding: `info`, `warning`, `critical`; may be empty
  std::string data;           ///< the rest, a JSON object
  std::int64_t incident = 0;  ///< 0: none
  friend bool operator==(const Event&, const Event&) = default;
};

/// What is wanted of the history. Empty fields want everything.
struct EventQuery {
  std::optional<WallTime> since;
  std::string subject;  ///< its subject, code, or one of its names
  std::int64_t incident = 0;
  std::size_t most = 1000;  ///< the newest
};

struct HistoryLimits {
  std::size_t in_memory = 10'000;  ///< events
  std::size_t on_disk = 200'000;   ///< events
  Duration age = std::chrono::days(30);
  /// What is older is thinned: of what happened to one subject in one hour, the first and the last
  /// of a kind stay.
  Duration in_full = std::chrono::days(2);
  std::size_t unwritten = 10'000;  ///< events that wait for a disk; more, and the oldest go
};

/// How it fares.
struct HistoryCounters {
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;  ///< never written, because the disk took none for too long
  std::uint64_t failures = 0;
  std::optional<std::string> complaint;  ///< why nothing can be written now
};

/// What happened: the newest in memory, all that the limits allow in the database. Without a
/// database it remembers until the agent ends. add() never waits; what it took is on stable storage
/// within a quarter of a second, all of what was added before it included. Life cycle: open(),
/// stop() before destruction; what it borrows outlives it. Thread: the core loop.
class History {
 public:
  /// `database` may be null.
  History(runtime::Runtime& runtime, runtime::Database* database, HistoryLimits limits = {});

  /// Makes the tables, and reads the newest events.
  runtime::Task<Result<void>> open();
  /// Tries a last time to write what is not written.
  runtime::Task<void> stop();

  /// `event.id` and, when it is zero, `event.at` are filled in.
  void add(Event event);

  /// Of the newest that are in memory, oldest first.
  [[nodiscard]] std::vector<Event> find(const EventQuery& query) const;
  /// Whether what it keeps outlives the agent.
  [[nodiscard]] bool stored() const noexcept { return database_ != nullptr; }
  /// Whether all events since then are in memory.
  [[nodiscard]] bool reaches(WallTime since) const noexcept;
  [[nodiscard]] const HistoryCounters& counters() const noexcept { return counters_; }
  /// Events that wait for the disk.
  [[nodiscard]] std::size_t unwritten() const noexcept { return unwritten_.size(); }

 private:
  /// An event in less than half the memory.
  class Kept {
   public:
    explicit Kept(const Event& event);
    [[nodiscard]] Event event() const;
    [[nodiscard]] WallTime at() const noexcept { return at_; }
    [[nodiscard]] bool matches(const EventQuery& query) const;

   private:
    std::int64_t id_;
    WallTime at_;
    std::int64_t incident_;
    TextRow<7> texts_;
  };

  runtime::Task<void> keep_writing();
  runtime::Task<Result<void>> write_out();
  runtime::Task<Result<void>> trim();
  void remember(const Event& event);
  void note(const Result<void>& written);

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  HistoryLimits limits_;
  std::int64_t last_id_ = 0;
  std::deque<Kept> recent_;
  bool forgot_ = false;  ///< something older than `recent_` has been
  std::deque<Event> unwritten_;
  std::uint64_t since_trim_ = 0;  ///< events written
  bool writing_ = false;
  HistoryCounters counters_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
