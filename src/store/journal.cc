#include "store/journal.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/json_fields.h"
#include "store/records.h"

namespace wardmote::store {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;

namespace {

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr std::int64_t kPage = 500;
constexpr std::string_view kHeadKey = "journal/head";
constexpr std::string_view kTokenKey = "agent/token";
constexpr std::string_view kColumns =
    "seq, at_ms, kind, plan, step, cluster, subject, actor, incident, token, detail, hash";

SqlStatement schema() {
  return {
      "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, "
      "kind TEXT NOT NULL, plan INTEGER NOT NULL, step TEXT NOT NULL, cluster TEXT NOT NULL, "
      "subject TEXT NOT NULL, actor TEXT NOT NULL, incident INTEGER NOT NULL, "
      "token INTEGER NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
      {}};
}

/// Of everything in the row, and of the row before. Lengths keep two columns from passing for each
/// other.
std::string hash_of(const JournalEntry& entry, std::string_view before) {
  const std::string numbers = fmt::format("{},{},{},{},{}", entry.sequence, wall_ms(entry.at),
                                          entry.plan, entry.incident, entry.token);
  std::string bytes;
  for (const std::string_view text :
       {before, std::string_view(numbers), std::string_view(entry.kind),
        std::string_view(entry.step), std::string_view(entry.cluster),
        std::string_view(entry.subject), std::string_view(entry.actor),
        std::string_view(entry.detail)}) {
    fmt::format_to(std::back_inserter(bytes), "{}:{}", text.size(), text);
  }
  return fmt::format("{:02x}", fmt::join(sha256(bytes), ""));
}

/// Fails (token is NOT NULL) when a later agent has taken the next token.
SqlStatement insert(const JournalEntry& entry, const std::string& hash) {
  return {"INSERT INTO journal (" + std::string(kColumns) +
              ") VALUES (?,?,?,?,?,?,?,?,?,"
              "(SELECT CAST(value AS INTEGER) FROM record WHERE key = ? AND value = ?),?,?)",
          {entry.sequence, wall_ms(entry.at), entry.kind, entry.plan, entry.step, entry.cluster,
           entry.subject, entry.actor, entry.incident, std::string(kTokenKey),
           std::to_string(entry.token), entry.detail, hash}};
}

struct StoredRow {
  JournalEntry entry;
  std::string hash;
};

/// Nothing when the row is none of ours.
std::optional<StoredRow> row_of(const SqlRow& row) {
  StoredRow stored;
  JournalEntry& entry = stored.entry;
  std::int64_t at_ms = 0;
  const std::pair<std::size_t, std::int64_t*> numbers[] = {
      {0, &entry.sequence}, {1, &at_ms}, {3, &entry.plan}, {8, &entry.incident}, {9, &entry.token}};
  for (const auto& [column, into] : numbers) {
    const auto value = row.integer(column);
    if (!value) return std::nullopt;
    *into = *value;
  }
  const std::pair<std::size_t, std::string*> texts[] = {
      {2, &entry.kind},  {4, &entry.step},    {5, &entry.cluster}, {6, &entry.subject},
      {7, &entry.actor}, {10, &entry.detail}, {11, &stored.hash}};
  for (const auto& [column, into] : texts) {
    const std::string* const value = row.text(column);
    if (value == nullptr) return std::nullopt;
    *into = *value;
  }
  entry.at = WallTime(std::chrono::milliseconds(at_ms));
  return stored;
}

std::string head_text(std::int64_t sequence, std::string_view hash) {
  return fmt::format("{} {}", sequence, hash);
}

/// The text of a record; empty when there is none.
Task<Result<std::string>> record(runtime::Runtime* runtime, runtime::Database* database,
                                 std::string key) {
  SqlStatement query{"SELECT value FROM record WHERE key = ?", {std::move(key)}};
  const auto rows = co_await database->read(std::move(query), runtime->deadline_in(kPatience));
  if (!rows) co_return std::unexpected(rows.error());
  const std::string* const text = rows->empty() ? nullptr : rows->front().text(0);
  co_return text == nullptr ? std::string() : *text;
}

}  // namespace

Journal::Journal(runtime::Runtime& runtime, runtime::Database* database)
    : runtime_(runtime), database_(database), written_(runtime.executor()) {}

Task<Result<void>> Journal::open() {
  if (database_ == nullptr) {
    head_ = Head{};
    token_ = 1;
    co_return Result<void>();
  }
  std::vector<SqlStatement> table = {schema()};
  Result<void> done = co_await database_->commit(std::move(table), runtime_.deadline_in(kPatience));
  if (done) done = co_await take_token();
  if (done) done = co_await read_head();
  if (done) done = co_await read_recent();
  if (!done) co_return with_context(done, "journal");
  co_return done;
}

Task<Result<void>> Journal::take_token() {
  const std::string key(kTokenKey);
  const Result<std::string> last = co_await record(&runtime_, database_, key);
  if (!last) co_return std::unexpected(last.error());
  token_ = parse_number<std::int64_t>(*last).value_or(0) + 1;
  std::vector<SqlStatement> taken = record_statements({{key, std::to_string(token_)}});
  Result<void> done = co_await database_->commit(std::move(taken), runtime_.deadline_in(kPatience));
  co_return done;
}

Task<Result<void>> Journal::read_head() {
  SqlStatement newest{"SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1", {}};
  const auto rows = co_await database_->read(std::move(newest), runtime_.deadline_in(kPatience));
  if (!rows) co_return std::unexpected(rows.error());
  Head head;
  if (!rows->empty()) {
    const auto sequence = rows->front().integer(0);
    const std::string* const hash = rows->front().text(1);
    if (!sequence || hash == nullptr) co_return fail(Errc::kProtocol, "a row that is none of ours");
    head = {*sequence, *hash};
  }
  head_ = std::move(head);
  co_return Result<void>();
}

Task<Result<void>> Journal::read_recent() {
  SqlStatement newest{"SELECT " + std::string(kColumns) + " FROM journal ORDER BY seq DESC LIMIT ?",
                      {static_cast<std::int64_t>(kRemembered)}};
  const auto rows = co_await database_->read(std::move(newest), runtime_.deadline_in(kPatience));
  if (!rows) co_return std::unexpected(rows.error());
  for (const SqlRow& row : *rows) {
    auto stored = row_of(row);
    if (!stored) co_return fail(Errc::kProtocol, "a row that is none of ours");
    recent_.push_front(std::move(stored->entry));
  }
  co_return Result<void>();
}

Task<Result<void>> Journal::append(JournalEntry entry, RecordChanges changes) {
  // A row needs the hash of the one before it, and a later record must not be overtaken.
  struct Turn {
    Journal* journal;
    std::uint64_t number;
    ~Turn() {
      std::erase(journal->turns_, number);
      journal->written_.ring();
    }
  };
  turns_.push_back(++last_turn_);
  const Turn turn{this, last_turn_};
  while (turns_.front() != turn.number) co_await written_.wait();
  entry.at = std::chrono::floor<std::chrono::milliseconds>(runtime_.wall_now());
  entry.token = token_;
  Result<void> written = co_await write(std::move(entry), std::move(changes));
  if (!written) co_return with_context(written, "journal");
  co_return written;
}

Task<Result<void>> Journal::write(JournalEntry entry, RecordChanges changes) {
  if (database_ == nullptr) {
    entry.sequence = ++head_->sequence;
    remember(std::move(entry));
    co_return Result<void>();
  }
  if (!head_) {
    const Result<void> read = co_await read_head();
    if (!read) co_return read;
  }
  const Head before = *std::exchange(head_, std::nullopt);
  entry.sequence = before.sequence + 1;
  const std::string hash = hash_of(entry, before.hash);
  changes[std::string(kHeadKey)] = head_text(entry.sequence, hash);
  std::vector<SqlStatement> statements = record_statements(std::move(changes));
  statements.push_back(insert(entry, hash));
  // Until it is known to be written, nobody knows what the last row is.
  Result<void> done =
      co_await database_->commit(std::move(statements), runtime_.deadline_in(kPatience));
  if (!done) co_return done;
  head_ = Head{entry.sequence, hash};
  remember(std::move(entry));
  co_return done;
}

void Journal::remember(JournalEntry entry) {
  recent_.push_back(std::move(entry));
  if (recent_.size() > kRemembered) recent_.pop_front();
}

Task<Result<JournalVerdict>> verify_journal(runtime::Runtime* runtime,
                                            runtime::Database* database) {
  JournalVerdict verdict;
  std::string before;
  std::int64_t last = 0;
  for (;;) {
    SqlStatement page{
        "SELECT " + std::string(kColumns) + " FROM journal WHERE seq > ? ORDER BY seq LIMIT ?",
        {last, kPage}};
    const auto rows = co_await database->read(std::move(page), runtime->deadline_in(kPatience));
    if (!rows) co_return with_context(rows, "journal");
    for (const SqlRow& row : *rows) {
      const auto stored = row_of(row);
      const std::int64_t expected = last + 1;
      if (!stored) {
        verdict.fault = fmt::format("row {} holds what nobody wrote", expected);
      } else if (stored->entry.sequence != expected) {
        verdict.fault = fmt::format("row {} is missing", expected);
      } else if (hash_of(stored->entry, before) != stored->hash) {
        verdict.fault = fmt::format("row {} is not as it was written", expected);
      }
      if (verdict.fault) co_return verdict;
      before = stored->hash;
      last = expected;
      ++verdict.rows;
    }
    if (rows->size() < static_cast<std::size_t>(kPage)) break;
  }
  std::string key(kHeadKey);
  const Result<std::string> head = co_await record(runtime, database, std::move(key));
  if (!head) co_return std::unexpected(head.error());
  const bool whole = head->empty() ? last == 0 : *head == head_text(last, before);
  if (!whole) verdict.fault = fmt::format("the rows after {} are missing", last);
  co_return verdict;
}

}  // namespace wardmote::store
