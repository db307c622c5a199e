#include "net/sqlite/connection.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "net/system_error.h"
#include "net/unique_fd.h"
#include "runtime/database.h"

namespace wardmote::net {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::SqlValue;

namespace {

constexpr std::size_t kMostPrepared = 128;
constexpr int kPageBytes = 4096;
constexpr int kAgainMs = 10;
constexpr std::string_view kInMemory = ":memory:";

Errc errc_of(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Errc::kTimeout;
    case SQLITE_FULL:
    case SQLITE_NOMEM: return Errc::kExhausted;
    case SQLITE_IOERR:
      // the disk has no room for the shared memory file
      if (code == SQLITE_IOERR_SHMSIZE) return Errc::kExhausted;
      return system_error == ENOSPC || system_error == EDQUOT ? Errc::kExhausted : Errc::kInternal;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Errc::kProtocol;
    case SQLITE_CANTOPEN: return system_error == ENOENT ? Errc::kMissing : Errc::kDenied;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return Errc::kDenied;
    case SQLITE_TOOBIG: return Errc::kLimit;
    case SQLITE_CONSTRAINT: return Errc::kRejected;
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE: return Errc::kInvalid;
    default: return Errc::kInternal;
  }
}

SqlValue column(sqlite3_stmt* prepared, int index) {
  switch (sqlite3_column_type(prepared, index)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(prepared, index);
    case SQLITE_TEXT: {
      const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(prepared, index));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(prepared, index));
      return std::string(bytes, size);
    }
    default: return std::monostate{};
  }
}

/// On every way out, the statement can run again and holds no lock.
struct Reset {
  sqlite3_stmt* prepared;
  ~Reset() {
    sqlite3_reset(prepared);
    sqlite3_clear_bindings(prepared);
  }
};

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Otherwise SQLite would create the file with the permissions that the umask leaves.
Result<void> make_private(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail_errno(errno, "open {}", path);
  return {};
}

}  // namespace

void SqliteConnection::Close::operator()(sqlite3* handle) const noexcept {
  sqlite3_close_v2(handle);
}

void SqliteConnection::Finalize::operator()(sqlite3_stmt* prepared) const noexcept {
  sqlite3_finalize(prepared);
}

SqliteConnection::SqliteConnection(sqlite3* handle, std::string name, SqliteLimits limits)
    : name_(std::move(name)), limits_(limits), handle_(handle) {}
SqliteConnection::SqliteConnection(SqliteConnection&& other) noexcept = default;
SqliteConnection& SqliteConnection::operator=(SqliteConnection&& other) noexcept = default;
SqliteConnection::~SqliteConnection() = default;

Result<SqliteConnection> SqliteConnection::open(const std::string& path, SqliteLimits limits) {
  return open(path, limits, Sharing::kShared);
}

Result<SqliteConnection> SqliteConnection::open_alone(const std::string& path,
                                                      SqliteLimits limits) {
  return open(path, limits, Sharing::kAlone);
}

Result<SqliteConnection> SqliteConnection::open(const std::string& path, SqliteLimits limits,
                                                Sharing sharing) {
  const bool file = path != kInMemory;
  if (file) {
    if (Result<void> made = make_private(path); !made) return std::unexpected(made.error());
  }
  sqlite3* handle = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, kFlags, nullptr);
  if (handle == nullptr) return fail(Errc::kExhausted, "{}: open", path);
  SqliteConnection connection(handle, file_name(path), limits);
  if (code != SQLITE_OK) return connection.failed(code, "open");
  if (Result<void> ready = connection.set_up(path, sharing); !ready)
    return std::unexpected(ready.error());
  return connection;
}

Result<void> SqliteConnection::set_up(const std::string& path, Sharing sharing) {
  sqlite3_extended_result_codes(handle_.get(), 1);
  sqlite3_busy_timeout(handle_.get(), limits_.busy_ms);
  sqlite3_limit(handle_.get(), SQLITE_LIMIT_LENGTH, static_cast<int>(limits_.value_bytes) + 1024);
  std::vector<std::string> orders;
  if (sharing == Sharing::kAlone) orders.emplace_back("PRAGMA locking_mode=EXCLUSIVE");
  orders.emplace_back("PRAGMA trusted_schema=OFF");
  orders.emplace_back("PRAGMA synchronous=FULL");
  orders.push_back(fmt::format("PRAGMA max_page_count={}", limits_.file_bytes / kPageBytes));
  if (path != kInMemory) orders.emplace_back("PRAGMA journal_mode=WAL");
  // SQLite does not wait by itself when another process turns the same file into WAL mode.
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(limits_.busy_ms);
  for (const std::string& order : orders) {
    auto done = run({order, {}});
    while (!done && done.error().code == Errc::kTimeout &&
           std::chrono::steady_clock::now() < give_up) {
      sqlite3_sleep(kAgainMs);
      done = run({order, {}});
    }
    if (!done) return std::unexpected(done.error());
  }
  const auto sound = run({"PRAGMA quick_check(1)", {}});
  if (!sound) return std::unexpected(sound.error());
  const std::string* const said = sound->empty() ? nullptr : sound->front().text(0);
  if (said == nullptr || *said != "ok") {
    return fail(Errc::kProtocol, "{}: damaged: {}", name_, said == nullptr ? "" : *said);
  }
  return {};
}

Result<sqlite3_stmt*> SqliteConnection::prepare(const std::string& text) {
  if (const auto known = prepared_.find(text); known != prepared_.end()) return known->second.get();
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), text.data(), static_cast<int>(text.size()) + 1,
                                      &made, &rest);
  std::unique_ptr<sqlite3_stmt, Finalize> prepared(made);
  if (code != SQLITE_OK) return failed(code, text.c_str());
  if (made == nullptr || rest != text.data() + text.size()) {
    return fail(Errc::kInvalid, "{}: not one statement: {}", name_, text);
  }
  if (prepared_.size() >= kMostPrepared) prepared_.clear();
  return prepared_.emplace(text, std::move(prepared)).first->second.get();
}

Result<void> SqliteConnection::bind(sqlite3_stmt* prepared, const SqlStatement& statement) {
  if (std::cmp_not_equal(sqlite3_bind_parameter_count(prepared), statement.values.size())) {
    return fail(Errc::kInvalid, "{}: {} values for: {}", name_, statement.values.size(),
                statement.text);
  }
  int index = 0;
  for (const SqlValue& value : statement.values) {
    ++index;
    int code = SQLITE_OK;
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      code = sqlite3_bind_int64(prepared, index, *number);
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
      code = sqlite3_bind_text64(prepared, index, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else {
      code = sqlite3_bind_null(prepared, index);
    }
    if (code != SQLITE_OK) return failed(code, statement.text.c_str());
  }
  return {};
}

Result<std::vector<SqlRow>> SqliteConnection::run(const SqlStatement& statement) {
  const auto prepared = prepare(statement.text);
  if (!prepared) return std::unexpected(prepared.error());
  const Reset reset{*prepared};
  if (Result<void> bound = bind(*prepared, statement); !bound) {
    return std::unexpected(bound.error());
  }
  std::vector<SqlRow> rows;
  for (;;) {
    const int code = sqlite3_step(*prepared);
    if (code == SQLITE_DONE) return rows;
    if (code != SQLITE_ROW) return failed(code, statement.text.c_str());
    if (rows.size() == limits_.rows) {
      return fail(Errc::kLimit, "{}: more than {} rows: {}", name_, limits_.rows, statement.text);
    }
    SqlRow& row = rows.emplace_back();
    const int columns = sqlite3_column_count(*prepared);
    for (int i = 0; i < columns; ++i) row.columns.push_back(column(*prepared, i));
  }
}

Result<void> SqliteConnection::commit(const std::vector<SqlStatement>& statements,
                                      const std::function<bool()>& before_each) {
  const auto done = transact(statements, before_each);
  if (!done) return std::unexpected(done.error());
  return {};
}

Result<std::vector<SqlRow>> SqliteConnection::transact(const std::vector<SqlStatement>& statements,
                                                       const std::function<bool()>& before_each) {
  // Takes the write lock at once, so that a transaction that reads first and writes later does not
  // fail half-way.
  if (auto begun = run({"BEGIN IMMEDIATE", {}}); !begun) return std::unexpected(begun.error());
  const auto roll_back = [this] {
    // Some failures have already rolled the transaction back.
    if (sqlite3_get_autocommit(handle_.get()) != 0) return;
    [[maybe_unused]] const auto ignored = run({"ROLLBACK", {}});
  };
  std::vector<SqlRow> rows;
  for (const SqlStatement& statement : statements) {
    if (before_each && !before_each()) {
      roll_back();
      return fail(Errc::kClosed, "{}: broken off", name_);
    }
    auto done = run(statement);
    if (!done) {
      roll_back();
      return std::unexpected(done.error());
    }
    rows = *std::move(done);
  }
  if (before_each && !before_each()) {
    roll_back();
    return fail(Errc::kClosed, "{}: broken off", name_);
  }
  if (auto ended = run({"COMMIT", {}}); !ended) {
    roll_back();
    return std::unexpected(ended.error());
  }
  return rows;
}

std::unexpected<Error> SqliteConnection::failed(int code, const char* doing) const {
  const int system_error = sqlite3_system_errno(handle_.get());
  return fail(errc_of(code, system_error), "{}: {}: {}", name_, doing,
              sqlite3_errmsg(handle_.get()));
}

}  // namespace wardmote::net
