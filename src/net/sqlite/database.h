#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/asio_runtime.h"
#include "net/sqlite/connection.h"
#include "runtime/database.h"

namespace wardmote::net {

/// A SQLite file behind the door: one worker thread does what the core loop asks for. Life cycle:
/// outlives what was asked of it; its destructor does what is queued, then closes the file. A
/// cancelled task waits for its call, which is done all the same. Thread: the core loop.
class SqliteDatabase final : public runtime::Database {
 public:
  /// Calls that may wait; one more is kLimit.
  static constexpr std::size_t kMostCalls = 1024;

  /// Blocks while it opens the file.
  static Result<std::unique_ptr<SqliteDatabase>> open(AsioRuntime& runtime, const std::string& path,
                                                      SqliteLimits limits = {});
  SqliteDatabase(AsioRuntime& runtime, SqliteConnection connection);
  ~SqliteDatabase() override;

  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement statement,
                                                           runtime::Deadline deadline) override;
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(
      std::vector<runtime::SqlStatement> statements, runtime::Deadline deadline) override;

 private:
  using Job = std::move_only_function<void()>;

  /// False when too many wait.
  bool enqueue(Job job);
  void work(const std::stop_token& stop);

  AsioRuntime& runtime_;
  SqliteConnection connection_;  ///< of the worker
  std::mutex mutex_;
  std::condition_variable_any filled_;
  std::deque<Job> jobs_;
  std::jthread worker_;
};

}  // namespace wardmote::net
