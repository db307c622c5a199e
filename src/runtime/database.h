#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// NULL, an integer, or text.
using SqlValue = std::variant<std::monostate, std::int64_t, std::string>;

/// One SQL statement; `values` are bound to its `?`s in order, never pasted into the text.
struct SqlStatement {
  std::string text;
  std::vector<SqlValue> values;
};

/// One row of an answer. Somebody may have edited the file by hand, so a column that does not have
/// the expected type reads as nothing.
struct SqlRow {
  std::vector<SqlValue> columns;

  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column) const noexcept {
    if (column >= columns.size()) return std::nullopt;
    const auto* const value = std::get_if<std::int64_t>(&columns[column]);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  /// Null when the column is not a text.
  [[nodiscard]] const std::string* text(std::size_t column) const noexcept {
    return column < columns.size() ? std::get_if<std::string>(&columns[column]) : nullptr;
  }
};

/// The door to one embedded SQL database (the dialect of SQLite). Calls are done one after the
/// other, in the order in which they were made. Production: net::SqliteDatabase. Tests:
/// sim::SimDatabase, whose process dies between any two writes. Thread: the core loop, which never
/// waits for a disk.
///
/// Errors: kTimeout (another process holds it, or the deadline passed before the call was begun),
/// kExhausted (the disk, or the size that the database may have, is full), kProtocol (the file is
/// damaged or no database), kDenied (no right to write it), kLimit (too many calls wait, or too
/// many rows), kRejected (a constraint), kInvalid (the statement makes no sense).
class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  /// Returns all rows of one statement that changes nothing.
  virtual Task<Result<std::vector<SqlRow>>> read(SqlStatement statement, Deadline deadline) = 0;
  /// Runs all statements, or none of them when one fails. The changes are on stable storage when
  /// this returns. A transaction that began before the deadline is finished. Returns the rows of
  /// the last statement.
  virtual Task<Result<std::vector<SqlRow>>> transact(std::vector<SqlStatement> statements,
                                                     Deadline deadline) = 0;
  /// The same, without the rows.
  Task<Result<void>> commit(std::vector<SqlStatement> statements, Deadline deadline);
};

}  // namespace wardmote::runtime
