#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/asio_runtime.h"
#include "net/sqlite/connection.h"
#include "runtime/database.h"

namespace wardmote::net {

/// A SQLite file as a runtime::Database: one worker thread runs the calls of the core loop. Life
/// cycle: outlives all calls; its destructor runs the queued calls, then closes the file. A
/// cancelled task waits for its call, which is completed all the same. A call that was begun and
/// does not end by its deadline is kTimeout, and may still be done; while the disk does not answer,
/// the calls after it are kTimeout at once, and are not done. Thread: the core loop.
class SqliteDatabase final : public runtime::Database {
 public:
  /// Calls that may wait; one more is kLimit.
  static constexpr std::size_t kMostCalls = 1024;
  using MayWrite = std::function<Result<void>()>;

  /// Blocks while it opens the file. It also opens a file on a full disk: the file can be read, and
  /// changes fail with kExhausted until there is room and the file is opened again. The worker
  /// calls `may_write` (may be empty) before each change.
  static Result<std::unique_ptr<SqliteDatabase>> open(AsioRuntime& runtime, const std::string& path,
                                                      SqliteLimits limits = {},
                                                      MayWrite may_write = {});
  SqliteDatabase(AsioRuntime& runtime, std::string path, SqliteLimits limits, MayWrite may_write,
                 std::optional<SqliteConnection> connection, std::optional<Error> full);
  ~SqliteDatabase() override;

  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement statement,
                                                           runtime::Deadline deadline) override;
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(
      std::vector<runtime::SqlStatement> statements, runtime::Deadline deadline) override;
  /// Whether changes reach the file at the path. kMissing: the file was removed or replaced; then
  /// every change fails in the same way, because nobody would read it again. Otherwise the result
  /// of `may_write`, kTimeout or kLimit.
  runtime::Task<Result<void>> in_place(runtime::Deadline deadline);

 private:
  /// How the kernel identifies a file.
  struct FileId {
    dev_t device = 0;
    ino_t number = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };
  /// `part`: what follows the path of the database.
  [[nodiscard]] std::optional<FileId> file_there(const char* part = "") const;
  /// Called by the worker.
  [[nodiscard]] Result<void> look_in_place() const;
  using Job = std::move_only_function<void()>;

  template <class T>
  struct Call;
  /// Answers the call when that is too late, or the disk does not answer.
  template <class T>
  void watch(std::shared_ptr<Call<T>> call);
  /// Runs `work` on the worker, and gives up by the deadline at the latest.
  template <class T, class Work>
  runtime::Task<T> on_worker(Work work, runtime::Deadline deadline);
  /// How long the call lasts that the worker runs now.
  [[nodiscard]] Duration stuck_for() const;

  /// False when too many calls wait.
  bool enqueue(Job job);
  void work(const std::stop_token& stop);
  /// Called by the worker: returns a connection, or why there is none.
  Result<SqliteConnection*> connection();

  AsioRuntime& runtime_;
  const std::string path_;
  const SqliteLimits limits_;
  const MayWrite may_write_;
  // Used by the worker only:
  std::optional<SqliteConnection> connection_;
  std::optional<Error> full_;  ///< why the file could not be opened in shared mode
  TimePoint open_again_;
  std::optional<FileId> file_;           ///< the file that was opened
  std::optional<FileId> log_;            ///< its write-ahead log
  std::atomic<TimePoint> busy_since_{};  ///< the zero point: no call runs
  std::mutex mutex_;
  std::condition_variable_any filled_;
  std::deque<Job> jobs_;
  std::jthread worker_;
};

}  // namespace wardmote::net
