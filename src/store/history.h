#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
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

/// A change that people will want to read later: a judge::Change that lasts.
struct Event {
  std::int64_t id = 0;  ///< ascending; given by the history
  WallTime at;
  std::string kind;           ///< `finding_raised`, …: docs/events.md
  std::string scope;          ///< the kind of thing: `cluster`, `check`, `gate`, `agent`, …
  std::string subject;        ///< its name
  std::string names;          ///< its other names, separated by blanks; incidents as `#17`
  std::string code;           ///< of the finding; may be empty
  std::string severity;       ///< of the finding: `info`, `warning`, `critical`; may be empty
  std::string data;           ///< the rest, a JSON object
  std::int64_t incident = 0;  ///< 0: none, or several
  friend bool operator==(const Event&, const Event&) = default;
};

/// A query of the history. Empty fields select everything.
struct EventQuery {
  std::optional<WallTime> since;
  std::string subject;  ///< the subject, the code, or one of the names
  std::int64_t incident = 0;
  std::size_t most = 1000;  ///< how many, the newest
};

struct HistoryLimits {
  std::size_t in_memory = 10'000;  ///< events
  std::size_t on_disk = 200'000;   ///< events
  Duration age = std::chrono::days(30);
  /// Older events are thinned: of the events of one subject and kind in one hour, the first and the
  /// last stay.
  Duration in_full = std::chrono::days(2);
  /// how many events may wait for the disk; beyond that, the oldest are dropped
  std::size_t unwritten = 10'000;
};

/// The state of the history.
struct HistoryCounters {
  std::uint64_t written = 0;
  /// events that were never stored, because the disk refused them for too long
  std::uint64_t dropped = 0;
  std::uint64_t failures = 0;
  std::optional<std::string> complaint;  ///< why nothing can be written now
};

/// What happened: the newest events in memory, all that the limits allow in the database. Without a
/// database it remembers until the agent ends. add() never waits; an event is on stable storage
/// within a quarter of a second, and so are all events before it. Life cycle: open(), stop() before
/// destruction; what it borrows outlives it. Thread: the core loop.
class History {
  class Kept;

 public:
  /// find() in small steps, for callers that must not keep the loop busy.
  class Search;

  /// `database` may be null.
  History(runtime::Runtime& runtime, runtime::Database* database, HistoryLimits limits = {});

  /// Creates the tables and reads the newest events. On a full disk it continues without them, and
  /// does this as soon as there is room.
  runtime::Task<Result<void>> open();
  /// Tries a last time to write what is not stored.
  runtime::Task<void> stop();

  /// Fills in `event.id` and, when it is zero, `event.at`.
  void add(Event event);

  /// Searches the newest events in memory; returns them oldest first.
  [[nodiscard]] std::vector<Event> find(const EventQuery& query) const;
  /// Whether the events survive a restart of the agent.
  [[nodiscard]] bool stored() const noexcept { return database_ != nullptr; }
  /// Whether all events since then are in memory.
  [[nodiscard]] bool reaches(WallTime since) const noexcept;
  [[nodiscard]] const HistoryCounters& counters() const noexcept { return counters_; }
  /// How many events wait for the disk.
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

  runtime::Task<Result<void>> read();
  void start();
  runtime::Task<void> keep_writing();
  runtime::Task<Result<void>> write_out();
  runtime::Task<Result<void>> trim();
  void remember(const Event& event);
  void note(const Result<void>& written);

  runtime::Runtime& runtime_;
  runtime::Database* database_;
  HistoryLimits limits_;
  std::int64_t last_id_ = 0;
  std::deque<std::shared_ptr<const Kept>> recent_;
  /// true when an event older than those in `recent_` was dropped from memory
  bool forgot_ = false;
  std::deque<Event> unwritten_;
  std::uint64_t since_trim_ = 0;  ///< events that are stored
  bool read_ = false;             ///< the state of the database
  bool writing_ = false;
  HistoryCounters counters_;
  runtime::TaskGroup tasks_;
};

/// Finds what History::find() finds, a few events at a time. Events that happen after the first
/// step change nothing. The history outlives it.
class History::Search {
 public:
  Search(const History& history, EventQuery query);

  /// Reads some more events, in far less than a millisecond. False when the search is complete.
  bool look_on();
  [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
  /// The oldest event has the position 0.
  [[nodiscard]] Event event(std::size_t position) const;
  /// Whether everything that the query selects is in memory.
  [[nodiscard]] bool complete() const noexcept;

 private:
  const History* history_;
  EventQuery query_;
  bool begun_ = false;
  bool reaches_ = false;
  std::vector<std::shared_ptr<const Kept>> left_;   ///< the newest at the end
  std::vector<std::shared_ptr<const Kept>> found_;  ///< the newest first
};

}  // namespace wardmote::store
