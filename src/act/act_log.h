#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "judge/journal_entry.h"
#include "runtime/database.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/fenced_writer.h"
#include "store/journal.h"
#include "store/leadership.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::act {

/// A row of this agent's journal: what it says was ordered before may be lost, and whoever led has
/// paused everything for that.
inline constexpr std::string_view kDoubtedRow = "doubted";

/// Writes down what acts: the state in the store, under the fence of who leads, then the row that
/// goes with it in this agent's own journal. The store has this journal's newest row as well, in
/// the same transaction as its state: of an agent that dies between the two, the next life finds it
/// there and journals it, so that none is missing and none is there twice. Everything is written in
/// the order in which it was given. Life cycle: open() first; what it borrows outlives it. Thread:
/// the core loop.
class ActLog {
 public:
  static constexpr std::size_t kMostOwed = 1000;

  /// `journal` and `store` may be null: then the rows end with the agent, and no state is kept.
  ActLog(runtime::Runtime& runtime, runtime::Database* journal, store::Store* store,
         const store::Leadership& leadership);

  /// Takes the right to write the journal from an earlier agent, and journals what that could not.
  runtime::Task<Result<void>> open();
  /// The state whose keys begin with `prefix`.
  runtime::Task<Result<std::map<std::string, std::string>>> load(std::string prefix);

  struct Appended {
    Result<void> done;
    bool in_store = false;  ///< also where the journal did not take the row
  };
  /// Both are on stable storage when it returns. It writes nothing while something that is owed
  /// cannot be written. kRejected: another agent leads, or has led since the call, or has taken
  /// over this agent's journal. Any other error: nobody knows whether the store took the state.
  runtime::Task<Appended> append(judge::JournalEntry entry, store::RecordChanges state);
  /// The same for what has happened whether it is written or not: when it fails (but for
  /// kRejected), it is owed, and written before anything that comes after it. Of kMostOwed, that
  /// is: more are not kept.
  runtime::Task<Result<void>> append_or_owe(judge::JournalEntry entry, store::RecordChanges state);
  /// The same, and there is always room.
  runtime::Task<Result<void>> append_surely(judge::JournalEntry entry, store::RecordChanges state);
  /// Whether the journal has an order that was stored, and the store has not: it was emptied, or an
  /// older copy was put in its place. Errors are the store's.
  runtime::Task<Result<bool>> store_lacks_orders();
  /// A state that goes with no row. Errors as append()'s.
  runtime::Task<Result<void>> keep(store::RecordChanges state);
  /// The same, of the state as it is when everything that was given before is written.
  runtime::Task<Result<void>> keep(std::function<store::RecordChanges()> state);
  /// For who leads again, before load(): when it has succeeded, no state that was given before is
  /// changed any more. Errors as append()'s.
  runtime::Task<Result<void>> settle();
  /// Tries to write what is owed.
  runtime::Task<Result<void>> write_owed();
  /// The states that are owed, or wait for their turn, are void, since another agent leads. Their
  /// rows are not: they tell what has happened, and of an order that it has lapsed.
  void forget_states() noexcept { ++lead_; }
  /// Is called with the row of each state that was owed and is void now.
  void when_void(std::function<void(const judge::JournalEntry&)> call) { void_ = std::move(call); }

  [[nodiscard]] const store::Journal& journal() const noexcept { return journal_; }
  /// A later agent writes this journal now: it will never take anything again.
  [[nodiscard]] bool superseded() const noexcept { return superseded_; }

 private:
  struct Item {
    judge::JournalEntry entry;
    store::RecordChanges state;
    std::uint64_t lead = 0;  ///< the number of the lead under which it was given
    bool order = false;      ///< nothing has happened if its state is not stored
    bool stored = false;     ///< the state is in the store already
    bool lapsed = false;     ///< the state was never stored: the lead was lost before
  };
  enum class Owe : std::uint8_t { kNever, kIfThereIsRoom, kAlways };
  /// Whose turn it is to write; it ends with this.
  class Turn;

  runtime::Task<Appended> write_in_turn(judge::JournalEntry entry, store::RecordChanges state,
                                        Owe owe);
  /// In the turn of the caller.
  runtime::Task<Result<void>> pay();
  runtime::Task<Result<void>> write(Item* item);
  runtime::Task<Result<void>> store_state(store::RecordChanges state);
  /// The row that this journal's last state came with; nothing: the store has none.
  runtime::Task<Result<std::optional<judge::JournalEntry>>> load_newest();
  runtime::Task<Result<void>> journal_newest();

  runtime::Runtime& runtime_;
  runtime::Database* database_;  ///< of the journal
  store::Store* store_;
  std::optional<store::FencedWriter> writer_;  ///< if there is a store
  store::Journal journal_;
  bool superseded_ = false;
  std::uint64_t lead_ = 0;
  std::function<void(const judge::JournalEntry&)> void_;
  std::deque<Item> owed_;            ///< oldest first
  std::deque<std::uint64_t> turns_;  ///< who writes now, and who waits
  std::uint64_t last_turn_ = 0;
  runtime::Event written_;
};

}  // namespace wardmote::act
