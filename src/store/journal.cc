#include "store/journal.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <iterator>
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
#include "codec/digest.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/records.h"

namespace wardmote::store {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;

namespace {

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr std::int64_t kPage = 500;
constexpr std::string_view kIdKey = "journal/id";
constexpr std::string_view kHeadKey = "journal/head";
constexpr std::string_view kAnchorKey = "journal/anchor";
constexpr std::string_view kTrimmed = "trimmed";
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
  const std::string numbers = fmt::format("{},{},{},{},{}", entry.sequence, epoch_ms(entry.at),
                                          entry.plan, entry.incident, entry.token);
  std::string bytes;
  for (const std::string_view text :
       {before, std::string_view(numbers), std::string_view(entry.kind),
        std::string_view(entry.step), std::string_view(entry.cluster),
        std::string_view(entry.subject), std::string_view(entry.actor),
        std::string_view(entry.detail)}) {
    fmt::format_to(std::back_inserter(bytes), "{}:{}", text.size(), text);
  }
  return codec::hex(codec::sha256(bytes));
}

/// Fails (token is NOT NULL) when a later agent has taken the next token.
SqlStatement insert(const JournalEntry& entry, const std::string& hash) {
  return {"INSERT INTO journal (" + std::string(kColumns) +
              ") VALUES (?,?,?,?,?,?,?,?,?,"
              "(SELECT CAST(value AS INTEGER) FROM record WHERE key = ? AND value = ?),?,?)",
          {entry.sequence, epoch_ms(entry.at), entry.kind, entry.plan, entry.step, entry.cluster,
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
  const auto at = moment_of_epoch_ms(at_ms);
  if (!at) return std::nullopt;
  entry.at = *at;
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

Journal::Journal(runtime::Runtime& runtime, runtime::Database* database, JournalLimits limits)
    : runtime_(runtime), database_(database), limits_(limits) {}

Task<Result<void>> Journal::open() {
  if (database_ == nullptr) {
    head_ = Head{};
    token_ = 1;
    co_return Result<void>();
  }
  std::vector<SqlStatement> table = {schema()};
  Result<void> done = co_await database_->commit(std::move(table), runtime_.deadline_in(kPatience));
  if (done) done = co_await read_id();
  if (done) done = co_await take_token();
  if (done) done = co_await read_recent();
  if (done) done = co_await trim();
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

Task<Result<void>> Journal::read_id() {
  const std::string key(kIdKey);
  Result<std::string> known = co_await record(&runtime_, database_, key);
  if (!known) co_return std::unexpected(known.error());
  id_ = *std::move(known);
  if (!id_.empty()) co_return Result<void>();
  std::string drawn = fmt::format("{:016x}{:016x}", runtime_.random(), runtime_.random());
  std::vector<SqlStatement> made = record_statements({{key, drawn}});
  Result<void> done = co_await database_->commit(std::move(made), runtime_.deadline_in(kPatience));
  if (done) id_ = std::move(drawn);
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
  recent_.clear();  // of an attempt that failed later
  for (const SqlRow& row : *rows) {
    auto stored = row_of(row);
    if (!stored) co_return fail(Errc::kProtocol, "a row that is none of ours");
    recent_.push_front(std::move(stored->entry));
  }
  co_return Result<void>();
}

Task<Result<void>> Journal::append(JournalEntry entry) {
  if (entry.at == WallTime{}) entry.at = runtime_.wall_now();
  entry.at = std::chrono::floor<std::chrono::milliseconds>(entry.at);
  entry.token = token_;
  const Result<void> written = co_await write(std::move(entry), {}, {});
  if (!written) co_return with_context(written, "journal");
  if (since_trim_ >= limits_.trim_every) {
    // The row is written, whatever becomes of older ones.
    const Result<void> trimmed = co_await trim();
    if (!trimmed) {
      log(LogLevel::kError, "journal_not_trimmed", {{"reason", trimmed.error().describe()}});
    }
  }
  co_return written;
}

Task<Result<void>> Journal::trim() {
  since_trim_ = 0;
  if (database_ == nullptr) co_return Result<void>();
  if (!head_) {
    const Result<void> read = co_await read_head();
    if (!read) co_return read;
  }
  const std::int64_t last = head_->sequence;
  // The first row that is young keeps those after it, whatever the clock was then.
  SqlStatement oldest{
      "SELECT seq, hash FROM journal WHERE seq <= ? AND (seq <= ? OR seq < "
      "ifnull((SELECT min(seq) FROM journal WHERE at_ms >= ?), ?)) ORDER BY seq DESC LIMIT 1",
      {last - limits_.newest, last - limits_.rows, epoch_ms(runtime_.wall_now() - limits_.age),
       last}};
  const auto rows = co_await database_->read(std::move(oldest), runtime_.deadline_in(kPatience));
  if (!rows) co_return std::unexpected(rows.error());
  if (rows->empty()) co_return Result<void>();
  const auto sequence = rows->front().integer(0);
  const std::string* const hash = rows->front().text(1);
  if (!sequence || hash == nullptr) co_return fail(Errc::kProtocol, "a row that is none of ours");
  JournalEntry told;
  told.at = std::chrono::floor<std::chrono::milliseconds>(runtime_.wall_now());
  told.kind = kTrimmed;
  told.actor = "agent";
  told.token = token_;
  told.detail = head_text(*sequence, *hash);
  RecordChanges anchor = {{std::string(kAnchorKey), told.detail}};
  std::vector<SqlStatement> remove = {{"DELETE FROM journal WHERE seq <= ?", {*sequence}}};
  Result<void> done = co_await write(std::move(told), std::move(anchor), std::move(remove));
  co_return done;
}

Task<Result<void>> Journal::write(JournalEntry entry, RecordChanges changes,
                                  std::vector<SqlStatement> also) {
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
  std::ranges::move(also, std::back_inserter(statements));
  // Until it is known to be written, nobody knows what the last row is.
  Result<void> done =
      co_await database_->commit(std::move(statements), runtime_.deadline_in(kPatience));
  if (!done) co_return done;
  head_ = Head{entry.sequence, hash};
  ++since_trim_;
  remember(std::move(entry));
  co_return done;
}

void Journal::remember(JournalEntry entry) {
  recent_.push_back(std::move(entry));
  if (recent_.size() > kRemembered) recent_.pop_front();
}

namespace {

/// Where the rows begin: after the last that was removed.
struct Anchor {
  std::string text;  ///< empty: none was removed
  std::int64_t sequence = 0;
  std::string hash;
  bool sound = true;
};

Anchor anchor_of(std::string text) {
  Anchor anchor{std::move(text), 0, {}, true};
  if (anchor.text.empty()) return anchor;
  std::string_view rest = anchor.text;
  const auto sequence = parse_number<std::int64_t>(take_until(rest, ' '));
  anchor.sound = sequence && *sequence > 0 && !rest.empty();
  anchor.sequence = sequence.value_or(0);
  anchor.hash = rest;
  return anchor;
}

/// Goes over the rows after the anchor.
class Chain {
 public:
  explicit Chain(const Anchor& anchor) : last_(anchor.sequence), before_(anchor.hash) {
    verdict_.removed = anchor.sequence;
  }

  void take(const SqlRow& row) {
    const auto stored = row_of(row);
    const std::int64_t expected = last_ + 1;
    if (!stored) {
      verdict_.fault = fmt::format("row {} holds what nobody wrote", expected);
    } else if (stored->entry.sequence != expected) {
      verdict_.fault = fmt::format("row {} is missing", expected);
    } else if (hash_of(stored->entry, before_) != stored->hash) {
      verdict_.fault = fmt::format("row {} is not as it was written", expected);
    } else {
      before_ = stored->hash;
      last_ = expected;
      ++verdict_.rows;
      if (stored->entry.kind == kTrimmed) trimmed_ = stored->entry.detail;
    }
  }
  JournalVerdict end(const Anchor& anchor, const std::string& head) {
    const bool whole = head.empty() ? last_ == 0 : head == head_text(last_, before_);
    if (!whole) {
      verdict_.fault = fmt::format("the rows after {} are missing", last_);
    } else if (anchor.text != trimmed_) {
      verdict_.fault =
          fmt::format("the rows up to {} are gone, and no row says so", verdict_.removed);
    }
    return verdict_;
  }
  [[nodiscard]] std::int64_t last() const noexcept { return last_; }
  [[nodiscard]] const JournalVerdict& verdict() const noexcept { return verdict_; }

 private:
  std::int64_t last_;
  std::string before_;
  std::string trimmed_;  ///< what the newest row of that kind says
  JournalVerdict verdict_;
};

/// From `anchor` on.
Task<Result<JournalVerdict>> verify_from(runtime::Runtime* runtime, runtime::Database* database,
                                         Anchor anchor) {
  Chain chain(anchor);
  for (;;) {
    SqlStatement page{
        "SELECT " + std::string(kColumns) + " FROM journal WHERE seq > ? ORDER BY seq LIMIT ?",
        {chain.last(), kPage}};
    const auto rows = co_await database->read(std::move(page), runtime->deadline_in(kPatience));
    if (!rows) co_return with_context(rows, "journal");
    for (const SqlRow& row : *rows) {
      chain.take(row);
      if (chain.verdict().fault) co_return chain.verdict();
    }
    if (rows->size() < static_cast<std::size_t>(kPage)) break;
  }
  std::string key(kHeadKey);
  const Result<std::string> head = co_await record(runtime, database, std::move(key));
  if (!head) co_return std::unexpected(head.error());
  co_return chain.end(anchor, *head);
}

}  // namespace

Task<Result<JournalVerdict>> verify_journal(runtime::Runtime* runtime,
                                            runtime::Database* database) {
  std::string key(kAnchorKey);
  Result<std::string> text = co_await record(runtime, database, key);
  for (;;) {
    if (!text) co_return std::unexpected(text.error());
    Anchor anchor = anchor_of(*text);
    if (!anchor.sound) {
      co_return JournalVerdict{.fault = "the anchor holds what nobody wrote"};
    }
    Result<JournalVerdict> verdict = co_await verify_from(runtime, database, std::move(anchor));
    if (!verdict || !verdict->fault) co_return verdict;
    // An agent that runs may have removed rows meanwhile.
    const Result<std::string> again = co_await record(runtime, database, key);
    if (!again) co_return std::unexpected(again.error());
    if (*again == *text) co_return verdict;
    text = *again;
  }
}

Task<Result<void>> read_journal(
    runtime::Runtime* runtime, runtime::Database* database,
    std::function<void(const JournalEntry& entry, const std::string& hash)> each) {
  std::int64_t last = 0;
  for (;;) {
    SqlStatement page{
        "SELECT " + std::string(kColumns) + " FROM journal WHERE seq > ? ORDER BY seq LIMIT ?",
        {last, kPage}};
    const auto rows = co_await database->read(std::move(page), runtime->deadline_in(kPatience));
    if (!rows) co_return with_context(rows, "journal");
    for (const SqlRow& row : *rows) {
      const auto stored = row_of(row);
      if (!stored) {
        co_return fail(Errc::kProtocol, "journal: a row after {} holds what nobody wrote", last);
      }
      last = stored->entry.sequence;
      each(stored->entry, stored->hash);
    }
    if (rows->size() < static_cast<std::size_t>(kPage)) co_return Result<void>();
  }
}

}  // namespace wardmote::store
