#include "store/records.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;

namespace {

constexpr Duration kPatience = std::chrono::seconds(30);

}  // namespace

Task<Result<void>> Records::open() {
  std::vector<SqlStatement> schema = {
      {"CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, "
       "WITHOUT ROWID",
       {}}};
  const Result<void> made =
      co_await database_.commit(std::move(schema), runtime_.deadline_in(kPatience));
  if (!made) co_return with_context(made, "records");
  co_return made;
}

Task<Result<std::map<std::string, std::string>>> Records::load(std::string prefix) {
  SqlStatement query{"SELECT key, value FROM record WHERE substr(key, 1, length(?)) = ?",
                     {prefix, prefix}};
  const auto rows = co_await database_.read(std::move(query), runtime_.deadline_in(kPatience));
  if (!rows) co_return with_context(rows, "records");
  std::map<std::string, std::string> records;
  for (const SqlRow& row : *rows) {
    const std::string* const key = row.text(0);
    const std::string* const value = row.text(1);
    if (key == nullptr || value == nullptr) {
      co_return fail(Errc::kProtocol, "records: a row that is not a record");
    }
    records[*key] = *value;
  }
  co_return records;
}

std::vector<SqlStatement> record_statements(RecordChanges changes) {
  std::vector<SqlStatement> statements;
  for (auto& [key, value] : changes) {
    if (value) {
      statements.push_back(
          {"INSERT INTO record VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET "
           "value = excluded.value",
           {key, *std::move(value)}});
    } else {
      statements.push_back({"DELETE FROM record WHERE key = ?", {key}});
    }
  }
  return statements;
}

Task<Result<void>> Records::commit(RecordChanges changes) {
  std::vector<SqlStatement> statements = record_statements(std::move(changes));
  const Result<void> done =
      co_await database_.commit(std::move(statements), runtime_.deadline_in(kPatience));
  if (!done) co_return with_context(done, "records");
  co_return done;
}

}  // namespace wardmote::store
