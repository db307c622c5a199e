#include "store/adoption.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

using runtime::SqlStatement;
using runtime::SqlValue;
using runtime::Task;

namespace {

constexpr Duration kPatience = std::chrono::seconds(30);

}  // namespace

Task<Result<std::size_t>> adopt_records(runtime::Runtime* runtime, runtime::Database* database,
                                        std::vector<std::string> prefixes) {
  std::string which = "0";
  std::vector<SqlValue> values;
  for (const std::string& prefix : prefixes) {
    which += " OR substr(key, 1, length(?)) = ?";
    values.insert(values.end(), {prefix, prefix});
  }
  SqlStatement count{fmt::format("SELECT count(*) FROM record WHERE {}", which), values};
  const auto rows = co_await database->read(std::move(count), runtime->deadline_in(kPatience));
  if (!rows) co_return with_context(rows, "records");
  const std::int64_t left = rows->empty() ? 0 : rows->front().integer(0).value_or(0);
  if (left == 0) co_return std::size_t{0};
  std::vector<SqlStatement> statements = {
      {"UPDATE store_meta SET revision = revision + 1", {}},
      // An operator who went back to the earlier version for a while wrote there last.
      {fmt::format("INSERT INTO store_kv SELECT r.key, r.value, m.revision, m.revision, 1, 0 "
                   "FROM store_meta m, (SELECT key, value FROM record WHERE {}) r WHERE true "
                   "ON CONFLICT (key) DO UPDATE SET value = excluded.value, "
                   "modified = excluded.modified, version = version + 1",
                   which),
       values},
      {fmt::format("DELETE FROM record WHERE {}", which), values}};
  const Result<void> moved =
      co_await database->commit(std::move(statements), runtime->deadline_in(kPatience));
  if (!moved) co_return with_context(moved, "records");
  co_return static_cast<std::size_t>(left);
}

}  // namespace wardmote::store
