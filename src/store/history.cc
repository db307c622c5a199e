#include "store/history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::SqlValue;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// How many events of one burst go into one transaction.
constexpr Duration kGather = 200ms;
constexpr Duration kPatience = 30s;
constexpr Duration kLastPatience = 1s;
constexpr Duration kFirstRetry = 1s;
constexpr Duration kLongestRetry = 60s;
constexpr std::size_t kMostOfOneWrite = 500;
constexpr std::uint64_t kTrimEvery = 1000;
/// How many events one step of a search reads.
constexpr std::size_t kOfOneLook = 200;

constexpr std::string_view kColumns =
    "id, at_ms, kind, scope, subject, names, code, severity, data, incident";

std::vector<SqlStatement> schema() {
  return {
      {"CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, "
       "kind TEXT NOT NULL, scope TEXT NOT NULL, subject TEXT NOT NULL, names TEXT NOT NULL, "
       "code TEXT NOT NULL, severity TEXT NOT NULL, data TEXT NOT NULL, "
       "incident INTEGER NOT NULL) STRICT",
       {}},
      {"CREATE INDEX IF NOT EXISTS event_at ON event (at_ms)", {}},
  };
}

SqlStatement insert(const Event& event) {
  return {"INSERT INTO event (" + std::string(kColumns) + ") VALUES (?,?,?,?,?,?,?,?,?,?)",
          {event.id, epoch_ms(event.at), event.kind, event.scope, event.subject, event.names,
           event.code, event.severity, event.data, event.incident}};
}

/// Nothing when the row is malformed.
std::optional<Event> event_of(const SqlRow& row) {
  Event event;
  std::int64_t at_ms = 0;
  const std::pair<std::size_t, std::int64_t*> numbers[] = {
      {0, &event.id}, {1, &at_ms}, {9, &event.incident}};
  for (const auto& [column, into] : numbers) {
    const auto value = row.integer(column);
    if (!value) return std::nullopt;
    *into = *value;
  }
  const std::pair<std::size_t, std::string*> texts[] = {
      {2, &event.kind}, {3, &event.scope},    {4, &event.subject}, {5, &event.names},
      {6, &event.code}, {7, &event.severity}, {8, &event.data}};
  for (const auto& [column, into] : texts) {
    const std::string* const value = row.text(column);
    if (value == nullptr) return std::nullopt;
    *into = *value;
  }
  const auto at = moment_of_epoch_ms(at_ms);
  if (!at) return std::nullopt;
  event.at = *at;
  return event;
}

}  // namespace

History::Kept::Kept(const Event& event)
    : id_(event.id),
      at_(event.at),
      incident_(event.incident),
      texts_({event.kind, event.scope, event.subject, event.names, event.code, event.severity,
              event.data}) {}

Event History::Kept::event() const {
  const auto text = [this](std::size_t column) { return std::string(texts_[column]); };
  return {id_, at_, text(0), text(1), text(2), text(3), text(4), text(5), text(6), incident_};
}

bool History::Kept::matches(const EventQuery& query) const {
  if (query.since && at_ < *query.since) return false;
  const std::string_view subject = texts_[2];
  const std::string_view code = texts_[4];
  const auto is_named = [&](std::string_view name) {
    const std::vector<std::string_view> names = split(texts_[3], ' ');
    return std::ranges::find(names, name) != names.end();
  };
  if (query.incident != 0 && incident_ != query.incident &&
      !is_named(fmt::format("#{}", query.incident)))
    return false;
  return query.subject.empty() || subject == query.subject || code == query.subject ||
         is_named(query.subject);
}

History::History(runtime::Runtime& runtime, runtime::Database* database, HistoryLimits limits)
    : runtime_(runtime), database_(database), limits_(limits), tasks_(runtime.executor()) {}

Task<Result<void>> History::open() {
  if (database_ == nullptr) co_return Result<void>();
  const Result<void> opened = co_await read();
  if (opened || opened.error().code != Errc::kExhausted) co_return opened;
  note(opened);
  start();
  co_return Result<void>();
}

Task<Result<void>> History::read() {
  const Result<void> made = co_await database_->commit(schema(), runtime_.deadline_in(kPatience));
  if (!made) co_return with_context(made, "history");
  SqlStatement newest{"SELECT " + std::string(kColumns) + " FROM event ORDER BY id DESC LIMIT ?",
                      {static_cast<std::int64_t>(limits_.in_memory)}};
  const auto rows = co_await database_->read(std::move(newest), runtime_.deadline_in(kPatience));
  if (!rows) co_return with_context(rows, "history");
  std::int64_t last = 0;
  std::vector<Event> stored;
  for (const SqlRow& row : *rows) {
    auto event = event_of(row);
    if (!event) co_return fail(Errc::kProtocol, "history: a row that is not an event");
    last = std::max(last, event->id);
    stored.push_back(*std::move(event));
  }
  // Events that happened while the disk was full follow the stored ones.
  const auto since = std::exchange(recent_, {});
  for (const Event& event : stored) recent_.push_front(std::make_shared<const Kept>(event));
  forgot_ = forgot_ || stored.size() == limits_.in_memory;
  for (const auto& kept : since) {
    Event event = kept->event();
    event.id += last;
    remember(event);
  }
  for (Event& event : unwritten_) event.id += last;
  last_id_ += last;
  read_ = true;
  Result<void> trimmed = co_await trim();
  if (!trimmed && trimmed.error().code == Errc::kExhausted) {
    note(trimmed);
    trimmed = {};
  }
  co_return trimmed;
}

Task<void> History::stop() {
  co_await tasks_.stop();
  if (database_ == nullptr) co_return;
  const TimePoint end = runtime_.now() + kLastPatience;
  while (!unwritten_.empty() && runtime_.now() < end) {
    const Result<void> written = co_await write_out();
    note(written);
    if (!written) co_return;
  }
}

void History::add(Event event) {
  event.id = ++last_id_;
  if (event.at == WallTime()) event.at = runtime_.wall_now();
  if (database_ != nullptr) {
    if (unwritten_.size() >= limits_.unwritten) {
      unwritten_.pop_front();
      ++counters_.dropped;
    }
    unwritten_.push_back(event);
    start();
  }
  remember(event);
}

void History::start() {
  if (writing_) return;
  writing_ = true;
  tasks_.spawn("write history", keep_writing());
}

void History::remember(const Event& event) {
  recent_.push_back(std::make_shared<const Kept>(event));
  if (recent_.size() <= limits_.in_memory) return;
  recent_.pop_front();
  forgot_ = true;
}

std::vector<Event> History::find(const EventQuery& query) const {
  Search search(*this, query);
  while (search.look_on()) {
  }
  std::vector<Event> found;
  found.reserve(search.size());
  for (std::size_t i = 0; i < search.size(); ++i) found.push_back(search.event(i));
  return found;
}

History::Search::Search(const History& history, EventQuery query)
    : history_(&history), query_(std::move(query)) {}

bool History::Search::look_on() {
  if (!std::exchange(begun_, true)) {
    left_.assign(history_->recent_.begin(), history_->recent_.end());
    reaches_ = history_->reaches(query_.since.value_or(WallTime::min()));
    return true;
  }
  for (std::size_t i = 0; i < kOfOneLook && !left_.empty(); ++i) {
    if (found_.size() == query_.most) return false;
    if (left_.back()->matches(query_)) found_.push_back(std::move(left_.back()));
    left_.pop_back();
  }
  return !left_.empty();
}

Event History::Search::event(std::size_t position) const {
  return found_.at(found_.size() - 1 - position)->event();
}

bool History::Search::complete() const noexcept {
  return found_.size() < query_.most && reaches_;
}

bool History::reaches(WallTime since) const noexcept {
  return !forgot_ || (!recent_.empty() && recent_.front()->at() <= since);
}

Task<void> History::keep_writing() {
  // On every way out, the next event starts the writer again.
  struct Done {
    History* history;
    ~Done() { history->writing_ = false; }
  } const done{this};
  Duration pause = kGather;
  while (!unwritten_.empty() || !read_) {
    co_await runtime_.sleep_until(runtime_.now() + pause);
    const Result<void> written = co_await write_out();
    note(written);
    pause = written ? Duration(kGather)
                    : std::clamp(pause * 2, Duration(kFirstRetry), Duration(kLongestRetry));
  }
}

Task<Result<void>> History::write_out() {
  if (!read_) {
    const Result<void> opened = co_await read();
    if (!opened) co_return opened;
  }
  const std::size_t count = std::min(unwritten_.size(), kMostOfOneWrite);
  if (count == 0) co_return Result<void>();
  const std::int64_t last = unwritten_[count - 1].id;
  std::vector<SqlStatement> statements;
  statements.reserve(count);
  for (std::size_t i = 0; i < count; ++i) statements.push_back(insert(unwritten_[i]));
  const Result<void> written =
      co_await database_->commit(std::move(statements), runtime_.deadline_in(kPatience));
  if (!written) co_return written;
  // Some may have been dropped meanwhile.
  while (!unwritten_.empty() && unwritten_.front().id <= last) unwritten_.pop_front();
  counters_.written += count;
  since_trim_ += count;
  if (since_trim_ < kTrimEvery) co_return written;
  const Result<void> trimmed = co_await trim();
  co_return trimmed;
}

Task<Result<void>> History::trim() {
  since_trim_ = 0;
  const std::int64_t now_ms = epoch_ms(runtime_.wall_now());
  const std::int64_t oldest_ms = now_ms - to_ms(limits_.age);
  const std::int64_t in_full_ms = now_ms - to_ms(limits_.in_full);
  std::vector<SqlStatement> statements = {
      {"DELETE FROM event WHERE at_ms < ?", {oldest_ms}},
      {"DELETE FROM event WHERE id <= (SELECT id FROM event ORDER BY id DESC LIMIT 1 OFFSET ?)",
       {static_cast<std::int64_t>(limits_.on_disk)}},
      {"DELETE FROM event WHERE at_ms < ? AND id IN (SELECT id FROM (SELECT id, "
       "lag(id) OVER w AS before, lead(id) OVER w AS after FROM event WHERE at_ms < ? "
       "WINDOW w AS (PARTITION BY kind, subject, code, incident, at_ms / 3600000 ORDER BY id)) "
       "WHERE before IS NOT NULL AND after IS NOT NULL)",
       {in_full_ms, in_full_ms}},
  };
  const Result<void> trimmed =
      co_await database_->commit(std::move(statements), runtime_.deadline_in(kPatience));
  if (!trimmed) co_return with_context(trimmed, "history: trim");
  co_return trimmed;
}

void History::note(const Result<void>& written) {
  const bool complained = counters_.complaint.has_value();
  if (written) {
    if (complained) log(LogLevel::kInfo, "history_writes_again");
    counters_.complaint.reset();
    return;
  }
  ++counters_.failures;
  counters_.complaint = written.error().describe();
  if (!complained) log(LogLevel::kError, "history_not_written", {{"reason", *counters_.complaint}});
}

}  // namespace wardmote::store
