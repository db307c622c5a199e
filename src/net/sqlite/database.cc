#include "net/sqlite/database.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <expected>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/asio_runtime.h"
#include "net/sqlite/connection.h"
#include "runtime/database.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;

namespace {

std::unexpected<Error> too_late() {
  return fail(Errc::kTimeout, "database: the calls before it took too long");
}

std::unexpected<Error> too_many() {
  return fail(Errc::kLimit, "database: too many calls wait");
}

/// Runs `work` through `enqueue` and resumes the caller on its own loop with the result.
template <class T, class Enqueue, class Work>
Task<T> on_worker(AsioRuntime* runtime, Enqueue enqueue, Work work) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(T)>(
      [runtime, enqueue = std::move(enqueue), work = std::move(work)](auto handler) mutable {
        // Shared, because a queue that is full has to give it back.
        auto waiting = std::make_shared<decltype(handler)>(std::move(handler));
        const auto finish = [runtime, waiting](T result) {
          asio::post(runtime->context(), [waiting, kept = std::move(result)]() mutable {
            std::move (*waiting)(std::move(kept));
          });
        };
        const bool queued = enqueue([finish, kept = std::move(work)]() mutable { finish(kept()); });
        if (!queued) finish(too_many());
      },
      asio::use_awaitable);
}

}  // namespace

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(AsioRuntime& runtime,
                                                             const std::string& path,
                                                             SqliteLimits limits) {
  Result<SqliteConnection> connection = SqliteConnection::open(path, limits);
  if (!connection) return std::unexpected(connection.error());
  return std::make_unique<SqliteDatabase>(runtime, *std::move(connection));
}

SqliteDatabase::SqliteDatabase(AsioRuntime& runtime, SqliteConnection connection)
    : runtime_(runtime),
      connection_(std::move(connection)),
      worker_([this](const std::stop_token& stop) { work(stop); }) {}

SqliteDatabase::~SqliteDatabase() = default;

bool SqliteDatabase::enqueue(Job job) {
  {
    const std::scoped_lock lock(mutex_);
    if (jobs_.size() >= kMostCalls) return false;
    jobs_.push_back(std::move(job));
  }
  filled_.notify_one();
  return true;
}

void SqliteDatabase::work(const std::stop_token& stop) {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      if (!filled_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

Task<Result<std::vector<SqlRow>>> SqliteDatabase::read(SqlStatement statement, Deadline deadline) {
  const auto work = [this, statement = std::move(statement),
                     deadline]() -> Result<std::vector<SqlRow>> {
    if (deadline.passed(runtime_.now())) return too_late();
    return connection_.run(statement);
  };
  return on_worker<Result<std::vector<SqlRow>>>(
      &runtime_, [this](Job job) { return enqueue(std::move(job)); }, work);
}

Task<Result<std::vector<SqlRow>>> SqliteDatabase::transact(std::vector<SqlStatement> statements,
                                                           Deadline deadline) {
  const auto work = [this, statements = std::move(statements),
                     deadline]() -> Result<std::vector<SqlRow>> {
    if (deadline.passed(runtime_.now())) return too_late();
    return connection_.transact(statements);
  };
  return on_worker<Result<std::vector<SqlRow>>>(
      &runtime_, [this](Job job) { return enqueue(std::move(job)); }, work);
}

}  // namespace wardmote::net
