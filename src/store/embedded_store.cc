#include "store/embedded_store.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::store {

using runtime::Deadline;
using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::SqlValue;
using runtime::Task;

namespace {

constexpr Duration kOpenPatience = std::chrono::seconds(30);
/// The most revisions in one batch of a watch.
constexpr Revision kMostOfOneBatch = 200;

/// Removes the leases that have ended; `?` are the present time and the boot id of the host.
constexpr std::string_view kLapsed =
    "(SELECT id FROM store_lease WHERE expires_ns <= ? OR boot <> ?)";

/// A trigger tells watches about every change of a key, whoever makes it.
std::string teller(std::string_view on, std::string_view row, std::string_view value,
                   std::string_view numbers) {
  return fmt::format(
      "CREATE TRIGGER IF NOT EXISTS store_{0} AFTER {0} ON store_kv BEGIN INSERT INTO store_event "
      "SELECT revision, {1}.key, {2}, {3} FROM store_meta; END",
      on, row, value, numbers);
}

std::vector<SqlStatement> schema() {
  constexpr std::string_view kNew = "NEW.created, NEW.version, NEW.lease";
  return {
      {"CREATE TABLE IF NOT EXISTS store_meta (one INTEGER PRIMARY KEY CHECK (one = 1), "
       "revision INTEGER NOT NULL, compacted INTEGER NOT NULL, held INTEGER NOT NULL, "
       "last_lease INTEGER NOT NULL) STRICT",
       {}},
      {"INSERT OR IGNORE INTO store_meta VALUES (1, 1, 0, 0, 0)", {}},
      {"CREATE TABLE IF NOT EXISTS store_kv (key TEXT PRIMARY KEY, value TEXT NOT NULL, "
       "created INTEGER NOT NULL, modified INTEGER NOT NULL, version INTEGER NOT NULL, "
       "lease INTEGER NOT NULL) STRICT, WITHOUT ROWID",
       {}},
      {"CREATE INDEX IF NOT EXISTS store_kv_lease ON store_kv (lease) WHERE lease <> 0", {}},
      {"CREATE TABLE IF NOT EXISTS store_event (revision INTEGER NOT NULL, key TEXT NOT NULL, "
       "value TEXT, created INTEGER NOT NULL, version INTEGER NOT NULL, lease INTEGER NOT NULL, "
       "PRIMARY KEY (revision, key)) STRICT, WITHOUT ROWID",
       {}},
      {"CREATE TABLE IF NOT EXISTS store_lease (id INTEGER PRIMARY KEY, ttl_ns INTEGER NOT NULL, "
       "expires_ns INTEGER NOT NULL, boot TEXT NOT NULL) STRICT",
       {}},
      {teller("INSERT", "NEW", "NEW.value", kNew), {}},
      {teller("UPDATE", "NEW", "NEW.value", kNew), {}},
      {teller("DELETE", "OLD", "NULL", "0, 0, 0"), {}},
  };
}

std::int64_t ns_of(TimePoint at) {
  return at.time_since_epoch().count();
}

/// The condition that `column` is in the range; its values are appended.
std::string within(std::string_view column, const KeyRange& keys, std::vector<SqlValue>& values) {
  values.emplace_back(keys.begin);
  if (keys.end.empty()) return fmt::format("{} >= ?", column);
  values.emplace_back(keys.end);
  return fmt::format("{0} >= ? AND {0} < ?", column);
}

std::string_view column_of(Compare::Target target) {
  switch (target) {
    case Compare::Target::kVersion: return "version";
    case Compare::Target::kCreateRevision: return "created";
    case Compare::Target::kModRevision: return "modified";
    case Compare::Target::kLease: return "lease";
    case Compare::Target::kValue: return "value";
  }
  return "version";
}

std::string_view operator_of(Compare::Relation relation) {
  switch (relation) {
    case Compare::Relation::kEqual: return "=";
    case Compare::Relation::kNotEqual: return "<>";
    case Compare::Relation::kLess: return "<";
    case Compare::Relation::kGreater: return ">";
  }
  return "=";
}

SqlValue operand_of(const Compare& compare) {
  if (const auto* const number = std::get_if<std::int64_t>(&compare.operand)) return *number;
  return std::get<std::string>(compare.operand);
}

std::string condition(const Compare& compare, std::vector<SqlValue>& values) {
  const std::string_view column = column_of(compare.target);
  const std::string_view relation = operator_of(compare.relation);
  const std::string counter =
      fmt::format("NOT EXISTS (SELECT 1 FROM store_kv WHERE {} AND NOT {} {} ?)",
                  within("key", compare.keys, values), column, relation);
  values.push_back(operand_of(compare));
  const std::string any =
      fmt::format("EXISTS (SELECT 1 FROM store_kv WHERE {})", within("key", compare.keys, values));
  if (compare.target == Compare::Target::kValue) return fmt::format("{} AND {}", counter, any);
  values.push_back(operand_of(compare));
  return fmt::format("{} AND ({} OR 0 {} ?)", counter, any, relation);
}

SqlStatement judge_conditions(const std::vector<Compare>& conditions) {
  SqlStatement statement{"UPDATE store_meta SET held = 1", {}};
  for (const Compare& compare : conditions) {
    statement.text += " AND " + condition(compare, statement.values);
  }
  return statement;
}

SqlStatement statement_of(const StoreChange& change) {
  SqlStatement statement;
  if (const auto* const erase = std::get_if<Erase>(&change)) {
    statement.text = "DELETE FROM store_kv WHERE " + within("key", erase->keys, statement.values) +
                     " AND (SELECT held FROM store_meta)";
    return statement;
  }
  const Put& put = std::get<Put>(change);
  statement.values = {put.key, put.value};
  // If the lease is gone, the query selects none, and the column must not be empty.
  std::string_view lease = "0";
  if (put.lease != 0) {
    lease = "(SELECT id FROM store_lease WHERE id = ?)";
    statement.values.emplace_back(put.lease);
  }
  statement.text = fmt::format(
      "INSERT INTO store_kv SELECT ?, ?, revision, revision, 1, {} FROM store_meta WHERE held "
      "ON CONFLICT (key) DO UPDATE SET value = excluded.value, modified = excluded.modified, "
      "version = version + 1, lease = excluded.lease",
      lease);
  return statement;
}

std::unexpected<Error> not_ours() {
  return fail(Errc::kProtocol, "store: a row that is none of ours");
}

/// Reads the columns from `first` on; nothing when they are malformed.
std::optional<KeyValue> key_of(const SqlRow& row, std::size_t first) {
  KeyValue found;
  const std::string* const key = row.text(first);
  const std::string* const value = row.text(first + 1);
  if (key == nullptr || value == nullptr) return std::nullopt;
  found.key = *key;
  found.value = *value;
  std::size_t column = first + 2;
  for (std::int64_t* const into :
       {&found.create_revision, &found.mod_revision, &found.version, &found.lease}) {
    const auto number = row.integer(column);
    if (!number) return std::nullopt;
    *into = *number;
    ++column;
  }
  return found;
}

/// Columns: revision, key, value (empty where it was removed), created, version, lease.
std::optional<KeyEvent> event_of(const SqlRow& row, std::size_t first) {
  KeyEvent event;
  const auto revision = row.integer(first);
  const std::string* const key = row.text(first + 1);
  const std::string* const value = row.text(first + 2);
  if (!revision || key == nullptr) return std::nullopt;
  event.removed = value == nullptr;
  event.key.key = *key;
  event.key.mod_revision = *revision;
  if (event.removed) return event;
  event.key.value = *value;
  std::size_t column = first + 3;
  for (std::int64_t* const into :
       {&event.key.create_revision, &event.key.version, &event.key.lease}) {
    const auto number = row.integer(column);
    if (!number) return std::nullopt;
    *into = *number;
    ++column;
  }
  return event;
}

}  // namespace

class EmbeddedWatch final : public Watch {
 public:
  EmbeddedWatch(EmbeddedStore& store, KeyRange keys, Revision from)
      : store_(store), keys_(std::move(keys)), next_(std::max<Revision>(from, 1)) {}

  Task<Result<WatchBatch>> next(Deadline deadline) override {
    for (;;) {
      if (deadline.passed(store_.runtime_.now())) co_return fail(Errc::kTimeout, "no events");
      SqlStatement question = query();
      const auto rows = co_await store_.database_.read(std::move(question), deadline);
      if (!rows) co_return with_context(rows, "store: watch");
      Result<Look> look = read(*rows);
      if (!look) co_return std::unexpected(look.error());
      if (look->lapsed) {
        const Result<void> expired = co_await store_.expire(deadline);
        if (!expired) co_return with_context(expired, "store: watch");
        continue;
      }
      next_ = std::max(next_, look->batch.upto + 1);
      if (!look->batch.events.empty()) co_return std::move(look->batch);
      if (next_ <= look->revision) continue;
      const TimePoint again = store_.runtime_.now() + store_.limits_.look_every;
      co_await store_.runtime_.sleep_until(std::min(again, deadline.at));
    }
  }

 private:
  struct Look {
    Revision revision = 0;
    bool lapsed = false;
    WatchBatch batch;
  };

  [[nodiscard]] SqlStatement query() const {
    SqlStatement statement{"", {ns_of(store_.runtime_.now()), store_.boot_}};
    statement.values.emplace_back(next_);
    statement.values.emplace_back(next_ + kMostOfOneBatch);
    const std::string keys = within("e.key", keys_, statement.values);
    statement.text = fmt::format(
        "SELECT m.revision, m.compacted, EXISTS {}, e.revision, e.key, e.value, e.created, "
        "e.version, e.lease FROM store_meta m LEFT JOIN store_event e "
        "ON e.revision >= ? AND e.revision < ? AND {} ORDER BY e.revision, e.key",
        kLapsed, keys);
    return statement;
  }

  [[nodiscard]] Result<Look> read(const std::vector<SqlRow>& rows) const {
    if (rows.empty()) return not_ours();
    const auto revision = rows.front().integer(0);
    const auto compacted = rows.front().integer(1);
    const auto lapsed = rows.front().integer(2);
    if (!revision || !compacted || !lapsed) return not_ours();
    if (next_ <= *compacted) {
      return fail(Errc::kMissing, "store: revision {} is forgotten already", next_);
    }
    if (next_ > *revision + 1) {
      return fail(Errc::kMissing, "store: revision {} is not there yet: the store is at {}", next_,
                  *revision);
    }
    Look look{*revision, *lapsed != 0, {std::min(*revision, next_ + kMostOfOneBatch - 1), {}}};
    for (const SqlRow& row : rows) {
      if (row.text(4) == nullptr) continue;
      auto event = event_of(row, 3);
      if (!event) return not_ours();
      look.batch.events.push_back(*std::move(event));
    }
    return look;
  }

  EmbeddedStore& store_;
  const KeyRange keys_;
  Revision next_;
};

Task<Result<void>> EmbeddedStore::open() {
  const Deadline deadline = runtime_.deadline_in(kOpenPatience);
  for (;;) {
    // Reading waits for nobody: a process that finds the tables need not wait for the right to
    // write. The trigger is created last.
    SqlStatement query{"SELECT 1 FROM sqlite_master WHERE name = 'store_DELETE'", {}};
    const auto found = co_await database_.read(std::move(query), deadline);
    if (found && !found->empty()) {
      opened_ = true;
      co_return Result<void>();
    }
    Result<void> made = co_await database_.commit(schema(), deadline);
    opened_ = made.has_value();
    if (made) co_return made;
    const bool busy = made.error().code == Errc::kTimeout;
    if (!busy || deadline.passed(runtime_.now())) co_return with_context(made, "store");
  }
}

std::vector<SqlStatement> EmbeddedStore::expiry() const {
  const std::vector<SqlValue> now = {ns_of(runtime_.now()), boot_};
  return {{fmt::format("UPDATE store_meta SET revision = revision + 1 WHERE EXISTS "
                       "(SELECT 1 FROM store_kv WHERE lease <> 0 AND lease IN {})",
                       kLapsed),
           now},
          {fmt::format("DELETE FROM store_kv WHERE lease <> 0 AND lease IN {}", kLapsed), now},
          {"DELETE FROM store_lease WHERE expires_ns <= ? OR boot <> ?", now},
          {"UPDATE store_meta SET compacted = max(compacted, revision - ?)", {limits_.history}},
          {"DELETE FROM store_event WHERE revision <= (SELECT compacted FROM store_meta)", {}}};
}

Task<Result<void>> EmbeddedStore::expire(Deadline deadline) {
  Result<void> expired = co_await database_.commit(expiry(), deadline);
  co_return expired;
}

Task<Result<Found>> EmbeddedStore::get(std::string key, Deadline deadline) {
  KeyRange keys = KeyRange::one(key);
  Result<Snapshot> snapshot = co_await list(std::move(keys), deadline);
  if (!snapshot) co_return std::unexpected(snapshot.error());
  Found found{snapshot->revision, std::nullopt};
  if (!snapshot->keys.empty()) found.key = std::move(snapshot->keys.front());
  co_return found;
}

Task<Result<Snapshot>> EmbeddedStore::list(KeyRange keys, Deadline deadline) {
  if (!opened_) {
    const Result<void> opened = co_await open();
    if (!opened) co_return std::unexpected(opened.error());
  }
  for (;;) {
    SqlStatement query{"", {ns_of(runtime_.now()), boot_}};
    const std::string wanted = within("k.key", keys, query.values);
    query.text = fmt::format(
        "SELECT m.revision, EXISTS {}, k.key, k.value, k.created, k.modified, k.version, k.lease "
        "FROM store_meta m LEFT JOIN store_kv k ON {} ORDER BY k.key",
        kLapsed, wanted);
    const auto rows = co_await database_.read(std::move(query), deadline);
    if (!rows) co_return with_context(rows, "store: list");
    const auto revision = rows->empty() ? std::nullopt : rows->front().integer(0);
    if (!revision) co_return not_ours();
    if (rows->front().integer(1) != 0) {
      const Result<void> expired = co_await expire(deadline);
      if (!expired) co_return with_context(expired, "store: list");
      continue;
    }
    Snapshot snapshot{*revision, {}};
    for (const SqlRow& row : *rows) {
      if (row.text(2) == nullptr) continue;
      auto found = key_of(row, 2);
      if (!found) co_return not_ours();
      snapshot.keys.push_back(*std::move(found));
    }
    co_return snapshot;
  }
}

Task<Result<Committed>> EmbeddedStore::put_if(Transaction transaction, Deadline deadline) {
  if (const Result<void> makes_sense = check_sense(transaction); !makes_sense) {
    co_return with_context(makes_sense, "store: put");
  }
  if (!opened_) {
    const Result<void> opened = co_await open();
    if (!opened) co_return std::unexpected(opened.error());
  }
  std::vector<SqlStatement> statements = expiry();
  statements.push_back(judge_conditions(transaction.conditions));
  statements.push_back({"UPDATE store_meta SET revision = revision + 1 WHERE held", {}});
  for (const StoreChange& change : transaction.changes) statements.push_back(statement_of(change));
  // Only a transaction that changes something makes a revision.
  statements.push_back(
      {"UPDATE store_meta SET revision = revision - 1 WHERE held AND NOT EXISTS "
       "(SELECT 1 FROM store_event e WHERE e.revision = store_meta.revision)",
       {}});
  statements.push_back({"SELECT held, revision FROM store_meta", {}});
  const auto rows = co_await database_.transact(std::move(statements), deadline);
  if (!rows) co_return with_context(rows, "store: put");
  const auto held = rows->empty() ? std::nullopt : rows->front().integer(0);
  const auto revision = rows->empty() ? std::nullopt : rows->front().integer(1);
  if (!held || !revision) co_return not_ours();
  co_return Committed{*held != 0, *revision};
}

std::unique_ptr<Watch> EmbeddedStore::watch(KeyRange keys, Revision from) {
  return std::make_unique<EmbeddedWatch>(*this, std::move(keys), from);
}

Task<Result<Lease>> EmbeddedStore::grant(Duration ttl, Deadline deadline) {
  if (ttl <= Duration::zero()) co_return fail(Errc::kInvalid, "store: a lease for no time");
  std::vector<SqlStatement> statements = {
      {"UPDATE store_meta SET last_lease = last_lease + 1", {}},
      {"INSERT INTO store_lease SELECT last_lease, ?, ?, ? FROM store_meta",
       {ttl.count(), ns_of(runtime_.now() + ttl), boot_}},
      {"SELECT last_lease FROM store_meta", {}}};
  const auto rows = co_await database_.transact(std::move(statements), deadline);
  if (!rows) co_return with_context(rows, "store: grant");
  const auto id = rows->empty() ? std::nullopt : rows->front().integer(0);
  if (!id) co_return not_ours();
  co_return Lease{*id, ttl};
}

Task<Result<Lease>> EmbeddedStore::keep_alive(LeaseId lease, Deadline deadline) {
  const std::int64_t now = ns_of(runtime_.now());
  std::vector<SqlStatement> statements = expiry();
  statements.push_back(
      {"UPDATE store_lease SET expires_ns = ? + ttl_ns WHERE id = ?", {now, lease}});
  statements.push_back({"SELECT ttl_ns FROM store_lease WHERE id = ?", {lease}});
  const auto rows = co_await database_.transact(std::move(statements), deadline);
  if (!rows) co_return with_context(rows, "store: keep alive");
  const auto ttl = rows->empty() ? std::nullopt : rows->front().integer(0);
  if (!ttl) co_return fail(Errc::kMissing, "store: lease {}", lease);
  co_return Lease{lease, Duration(*ttl)};
}

Task<Result<void>> EmbeddedStore::revoke(LeaseId lease, Deadline deadline) {
  std::vector<SqlStatement> statements = expiry();
  statements.push_back(
      {"UPDATE store_meta SET revision = revision + 1 WHERE EXISTS "
       "(SELECT 1 FROM store_kv WHERE lease <> 0 AND lease = ?)",
       {lease}});
  statements.push_back({"DELETE FROM store_kv WHERE lease <> 0 AND lease = ?", {lease}});
  statements.push_back({"DELETE FROM store_lease WHERE id = ? RETURNING id", {lease}});
  const auto rows = co_await database_.transact(std::move(statements), deadline);
  if (!rows) co_return with_context(rows, "store: revoke");
  if (rows->empty()) co_return fail(Errc::kMissing, "store: lease {}", lease);
  co_return Result<void>();
}

}  // namespace wardmote::store
