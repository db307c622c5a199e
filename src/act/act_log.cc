#include "act/act_log.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/journal_entry.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/fenced_writer.h"
#include "store/leadership.h"
#include "store/plan_record.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::act {

using judge::JournalEntry;
using runtime::Task;
using store::RecordChanges;

namespace {

constexpr Duration kPatience = std::chrono::seconds(30);

/// The row of an order that was not known to be stored when the lead was lost.
JournalEntry lapsed(JournalEntry row) {
  row.detail = fmt::format("'{}' may not hold: the lead was lost before it was stored ({})",
                           row.kind, row.detail);
  row.kind = "lapsed";
  return row;
}

bool is_same(const JournalEntry& one, const JournalEntry& other) {
  return one.at == other.at && one.kind == other.kind && one.plan == other.plan &&
         one.step == other.step && one.detail == other.detail;
}

/// Somebody forbade something, or allowed it again.
bool is_order(const JournalEntry& row) {
  return row.kind == "paused" || row.kind == "resumed" || row.kind == "rejected";
}

}  // namespace

/// A later state must not be overtaken by an earlier one.
class ActLog::Turn {
 public:
  explicit Turn(ActLog& log) : log_(log), number_(++log.last_turn_) {
    log_.turns_.push_back(number_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    std::erase(log_.turns_, number_);
    log_.written_.notify();
  }
  [[nodiscard]] bool come() const noexcept { return log_.turns_.front() == number_; }

 private:
  ActLog& log_;
  const std::uint64_t number_;
};

ActLog::ActLog(runtime::Runtime& runtime, runtime::Database* journal, store::Store* store,
               const store::Leadership& leadership)
    : runtime_(runtime),
      database_(journal),
      store_(store),
      journal_(runtime, journal),
      written_(runtime.executor()) {
  if (store != nullptr) writer_.emplace(*store, leadership, "last/write/acts");
}

Task<Result<void>> ActLog::open() {
  if (database_ != nullptr) {
    store::Records records(runtime_, *database_);
    const Result<void> made = co_await records.open();
    if (!made) co_return made;
  }
  Result<void> opened = co_await journal_.open();
  if (opened) opened = co_await journal_newest();
  co_return opened;
}

Task<Result<std::map<std::string, std::string>>> ActLog::load(std::string prefix) {
  std::map<std::string, std::string> state;
  if (store_ == nullptr) co_return state;
  store::KeyRange keys = store::KeyRange::prefix(prefix);
  auto found = co_await store_->list(std::move(keys), runtime_.deadline_in(kPatience));
  if (!found) co_return std::unexpected(found.error());
  for (store::KeyValue& key : found->keys) state[std::move(key.key)] = std::move(key.value);
  co_return state;
}

Task<ActLog::Appended> ActLog::append(JournalEntry entry, RecordChanges state) {
  return write_in_turn(std::move(entry), std::move(state), Owe::kNever);
}

Task<Result<void>> ActLog::append_or_owe(JournalEntry entry, RecordChanges state) {
  Appended appended =
      co_await write_in_turn(std::move(entry), std::move(state), Owe::kIfThereIsRoom);
  co_return std::move(appended.done);
}

Task<Result<void>> ActLog::append_surely(JournalEntry entry, RecordChanges state) {
  Appended appended = co_await write_in_turn(std::move(entry), std::move(state), Owe::kAlways);
  co_return std::move(appended.done);
}

Task<Result<void>> ActLog::write_owed() {
  const Turn turn(*this);
  while (!turn.come()) co_await written_.wait();
  Result<void> paid = co_await pay();
  co_return paid;
}

Task<ActLog::Appended> ActLog::write_in_turn(JournalEntry entry, RecordChanges state, Owe owe) {
  const Turn turn(*this);
  const std::uint64_t lead = lead_;
  while (!turn.come()) co_await written_.wait();
  entry.at = std::chrono::floor<std::chrono::milliseconds>(runtime_.wall_now());
  Item item{.entry = std::move(entry),
            .state = std::move(state),
            .lead = lead,
            .order = owe == Owe::kIfThereIsRoom};
  Result<void> written = co_await pay();
  if (written && owe == Owe::kNever && lead != lead_ && !item.state.empty())
    written = fail(Errc::kRejected, "another agent has led since it was decided");
  if (written) written = co_await write(&item);
  // Of an order it is told to whoever gave it. Of what was done already the row is all there is.
  if (written && item.lapsed && owe == Owe::kIfThereIsRoom)
    written = fail(Errc::kRejected, "another agent may have led since it was ordered");
  const bool again = !written && written.error().code != Errc::kRejected;
  const bool room = owe == Owe::kAlways || owed_.size() < kMostOwed;
  Appended appended{std::move(written), item.stored};
  if (again && owe != Owe::kNever && room) owed_.push_back(std::move(item));
  co_return appended;
}

Task<Result<void>> ActLog::pay() {
  while (!owed_.empty()) {
    // A task that is cancelled does not learn that its row was written: it is not written twice.
    Item next = std::move(owed_.front());
    owed_.pop_front();
    Result<void> written = co_await write(&next);
    if (written) continue;
    if (written.error().code != Errc::kRejected) owed_.push_front(std::move(next));
    co_return written;
  }
  co_return Result<void>();
}

Task<Result<void>> ActLog::write(Item* item) {
  if (item->lead != lead_) {
    const bool lapses = !item->stored && !item->state.empty();
    if (lapses && void_) void_(item->entry);
    if (lapses && item->order) item->entry = lapsed(item->entry);
    item->lapsed |= lapses;
    item->state.clear();
  }
  if (!item->stored && !item->state.empty()) {
    RecordChanges state = item->state;
    item->entry.token = journal_.token();
    state[store::newest_row_key(journal_.id())] = store::encode(item->entry);
    Result<void> stored = co_await store_state(std::move(state));
    if (!stored) co_return stored;
  }
  item->stored = true;
  JournalEntry entry = item->entry;
  Result<void> journaled = co_await journal_.append(std::move(entry));
  superseded_ = superseded_ || (!journaled && journaled.error().code == Errc::kRejected);
  co_return journaled;
}

/// The life before may have died after it stored a state and before it journaled the row.
Task<Result<void>> ActLog::journal_newest() {
  Result<std::optional<JournalEntry>> row = co_await load_newest();
  if (!row) co_return std::unexpected(row.error());
  const auto is_it = [&](const JournalEntry& other) { return is_same(other, **row); };
  if (!*row || std::ranges::any_of(journal_.recent(), is_it)) co_return Result<void>();
  Result<void> journaled = co_await journal_.append(**std::move(row));
  co_return journaled;
}

Task<Result<std::optional<JournalEntry>>> ActLog::load_newest() {
  std::string key = store::newest_row_key(journal_.id());
  const auto found = co_await load(std::move(key));
  if (!found) co_return std::unexpected(found.error());
  if (found->empty()) co_return std::nullopt;
  Result<JournalEntry> row = store::decode_row(found->begin()->second);
  if (!row) co_return std::nullopt;
  co_return *std::move(row);
}

/// A state is stored before its row is journaled, and the store has the row of the last one.
Task<Result<bool>> ActLog::store_lacks_orders() {
  const std::deque<JournalEntry>& rows = journal_.recent();
  const auto order = std::ranges::find_if(rows.rbegin(), rows.rend(), [](const auto& row) {
    return is_order(row) || row.kind == kDoubtedRow;
  });
  if (store_ == nullptr || order == rows.rend() || order->kind == kDoubtedRow) co_return false;
  const Result<std::optional<JournalEntry>> newest = co_await load_newest();
  if (!newest) co_return std::unexpected(newest.error());
  if (!*newest) co_return true;
  const auto is_it = [&](const JournalEntry& other) { return is_same(other, **newest); };
  const auto known = std::ranges::find_if(rows.rbegin(), rows.rend(), is_it);
  if (known != rows.rend()) co_return order < known;
  // Either this life has not journaled it yet, or it was forgotten long ago.
  co_return std::tie((*newest)->token, (*newest)->at) < std::tie(order->token, order->at);
}

Task<Result<void>> ActLog::keep(RecordChanges state) {
  return keep([state = std::move(state)] { return state; });
}

Task<Result<void>> ActLog::keep(std::function<RecordChanges()> state) {
  const Turn turn(*this);
  const std::uint64_t lead = lead_;
  while (!turn.come()) co_await written_.wait();
  if (lead != lead_) co_return fail(Errc::kRejected, "another agent has led since");
  RecordChanges now = state();
  Result<void> kept = co_await store_state(std::move(now));
  co_return kept;
}

Task<Result<void>> ActLog::settle() {
  const Turn turn(*this);
  while (!turn.come()) co_await written_.wait();
  if (!writer_) co_return Result<void>();
  Result<void> settled = co_await writer_->settle(runtime_.deadline_in(kPatience));
  co_return settled;
}

Task<Result<void>> ActLog::store_state(RecordChanges state) {
  if (!writer_ || state.empty()) co_return Result<void>();
  Result<void> stored = co_await writer_->write(std::move(state), runtime_.deadline_in(kPatience));
  co_return stored;
}

}  // namespace wardmote::act
