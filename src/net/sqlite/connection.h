#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace wardmote::net {

struct SqliteLimits {
  std::size_t rows = 100'000;           ///< of one answer
  std::size_t value_bytes = 4 << 20;    ///< of one text
  std::int64_t file_bytes = 512 << 20;  ///< of the database
  int busy_ms = 2000;                   ///< how long to wait for another process
  /// A disk that does not end a call for so long does not answer: calls after it do not wait.
  Duration disk_patience = std::chrono::seconds(10);
};

/// One connection to one SQLite file, or to a database in memory (`:memory:`). Blocks. Errors are
/// those of runtime::Database. Thread: one at a time.
class SqliteConnection {
 public:
  /// Opens or creates the file, readable by its owner only, with a write-ahead log, and checks it
  /// for damage. kMissing when there is no such folder.
  static Result<SqliteConnection> open(const std::string& path, SqliteLimits limits = {});
  /// The same for a file on a full disk: it locks other processes out, so it needs no room for
  /// memory shared with them.
  static Result<SqliteConnection> open_alone(const std::string& path, SqliteLimits limits = {});

  SqliteConnection(SqliteConnection&& other) noexcept;
  SqliteConnection& operator=(SqliteConnection&& other) noexcept;
  ~SqliteConnection();

  Result<std::vector<runtime::SqlRow>> run(const runtime::SqlStatement& statement);
  /// Runs one transaction; returns the rows of its last statement. `before_each` (may be empty) is
  /// called before every statement and before the commit; when it returns false, the transaction is
  /// rolled back: kClosed.
  Result<std::vector<runtime::SqlRow>> transact(
      const std::vector<runtime::SqlStatement>& statements,
      const std::function<bool()>& before_each = {});
  /// The same without the rows.
  Result<void> commit(const std::vector<runtime::SqlStatement>& statements,
                      const std::function<bool()>& before_each = {});

 private:
  SqliteConnection(sqlite3* handle, std::string name, SqliteLimits limits);

  enum class Sharing : std::uint8_t { kShared, kAlone };
  static Result<SqliteConnection> open(const std::string& path, SqliteLimits limits,
                                       Sharing sharing);
  Result<void> set_up(const std::string& path, Sharing sharing);
  Result<sqlite3_stmt*> prepare(const std::string& text);
  Result<void> bind(sqlite3_stmt* prepared, const runtime::SqlStatement& statement);
  [[nodiscard]] std::unexpected<Error> failed(int code, const char* doing) const;

  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* prepared) const noexcept;
  };
  std::string name_;  ///< for messages: the name of the file
  SqliteLimits limits_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> prepared_;
};

}  // namespace wardmote::net
