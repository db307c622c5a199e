#include "net/sqlite/database.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/asio_runtime.h"
#include "net/boot_timer.h"
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

/// How often a full disk is tried again; each try checks the whole file.
constexpr Duration kOpenAgain = std::chrono::seconds(5);
constexpr const char* kWriteAheadLog = "-wal";

/// Opens an existing file on a full disk for reading. An empty file could only be written.
std::optional<SqliteConnection> open_full(const std::string& path, SqliteLimits limits) {
  struct ::stat file{};
  if (::stat(path.c_str(), &file) != 0 || file.st_size == 0) return std::nullopt;
  auto connection = SqliteConnection::open_alone(path, limits);
  if (!connection) return std::nullopt;
  return *std::move(connection);
}

std::unexpected<Error> too_many() {
  return fail(Errc::kLimit, "database: too many calls wait");
}

/// How often it is looked whether the disk answers a call that waits.
constexpr Duration kLookAgain = std::chrono::seconds(1);

std::unexpected<Error> no_answer(Duration since) {
  return fail(Errc::kTimeout, "database: the disk has not answered for {}", spell_duration(since));
}

std::unexpected<Error> unknown_end() {
  return fail(Errc::kTimeout,
              "database: the disk does not answer, and it is not known whether this was done");
}

enum class CallState : std::uint8_t { kWaits, kBegun, kGivenUp };

}  // namespace

/// One call, between the loop and the worker.
template <class T>
struct SqliteDatabase::Call {
  Call(asio::io_context& context, Deadline until, std::move_only_function<void(T)> then)
      : clock(context.get_executor()), deadline(until), caller(std::move(then)) {}

  /// Whoever is first says how it goes on.
  bool become(CallState next) noexcept {
    CallState waits = CallState::kWaits;
    return state.compare_exchange_strong(waits, next);
  }
  void finish(T result) {
    if (!caller) return;
    clock.cancel();
    std::exchange(caller, nullptr)(std::move(result));
  }

  BootTimer clock;
  const Deadline deadline;
  std::move_only_function<void(T)> caller;  ///< null: it was answered
  std::atomic<CallState> state = CallState::kWaits;
};

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(AsioRuntime& runtime,
                                                             const std::string& path,
                                                             SqliteLimits limits,
                                                             MayWrite may_write) {
  Result<SqliteConnection> connection = SqliteConnection::open(path, limits);
  if (connection) {
    return std::make_unique<SqliteDatabase>(runtime, path, limits, std::move(may_write),
                                            *std::move(connection), std::nullopt);
  }
  if (connection.error().code != Errc::kExhausted) return std::unexpected(connection.error());
  return std::make_unique<SqliteDatabase>(runtime, path, limits, std::move(may_write),
                                          open_full(path, limits), connection.error());
}

SqliteDatabase::SqliteDatabase(AsioRuntime& runtime, std::string path, SqliteLimits limits,
                               MayWrite may_write, std::optional<SqliteConnection> connection,
                               std::optional<Error> full)
    : runtime_(runtime),
      path_(std::move(path)),
      limits_(limits),
      may_write_(std::move(may_write)),
      connection_(std::move(connection)),
      full_(std::move(full)),
      file_(connection_ ? file_there() : std::nullopt),
      log_(connection_ ? file_there(kWriteAheadLog) : std::nullopt),
      worker_([this](const std::stop_token& stop) { work(stop); }) {}

SqliteDatabase::~SqliteDatabase() = default;

std::optional<SqliteDatabase::FileId> SqliteDatabase::file_there(const char* part) const {
  struct ::stat file{};
  if (::stat((path_ + part).c_str(), &file) != 0) return std::nullopt;
  return FileId{file.st_dev, file.st_ino};
}

Result<void> SqliteDatabase::look_in_place() const {
  if (may_write_) {
    if (Result<void> may = may_write_(); !may) return may;
  }
  if (file_ && file_there() != file_)
    return fail(Errc::kMissing, "{} is not the file that this agent has opened", path_);
  // What was written last is in the log alone.
  if (log_ && file_there(kWriteAheadLog) != log_) {
    return fail(Errc::kMissing, "{}{} is not the file that this agent has opened", path_,
                kWriteAheadLog);
  }
  return {};
}

Result<SqliteConnection*> SqliteDatabase::connection() {
  if (full_ && runtime_.now() >= open_again_) {
    connection_.reset();  // an exclusive connection locks out the next one, too
    auto opened = SqliteConnection::open(path_, limits_);
    if (opened) {
      connection_ = *std::move(opened);
      full_.reset();
    } else {
      full_ = opened.error();
      open_again_ = runtime_.now() + kOpenAgain;
      connection_ = open_full(path_, limits_);
    }
    file_ = connection_ ? file_there() : std::nullopt;
    log_ = connection_ ? file_there(kWriteAheadLog) : std::nullopt;
  }
  if (!connection_) return std::unexpected(*full_);
  return &*connection_;
}

template <class T, class Work>
Task<T> SqliteDatabase::on_worker(Work work, Deadline deadline) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(T)>(
      [this, deadline, work = std::move(work)](auto handler) mutable {
        const auto call = std::make_shared<Call<T>>(runtime_.context(), deadline,
                                                    [waits = std::move(handler)](T result) mutable {
                                                      std::move(waits)(std::move(result));
                                                    });
        const auto answer = [this, call](T result) {
          asio::post(runtime_.context(),
                     [call, kept = std::move(result)]() mutable { call->finish(std::move(kept)); });
        };
        if (const Duration stuck = stuck_for(); stuck > limits_.disk_patience)
          return answer(no_answer(stuck));
        const bool queued = enqueue([call, answer, work = std::move(work)] {
          if (call->become(CallState::kBegun)) answer(work());
        });
        queued ? watch(call) : answer(too_many());
      },
      asio::use_awaitable);
}

/// A disk can stand still for as long as it likes (a frozen file system, a server that is away).
/// Who waits for it gives up; what was begun then may still be done.
template <class T>
void SqliteDatabase::watch(std::shared_ptr<Call<T>> call) {
  BootTimer& clock = call->clock;
  clock.expires_at(std::min(call->deadline.at, runtime_.now() + kLookAgain));
  clock.async_wait([this, call = std::move(call)](const boost::system::error_code&) {
    if (!call->caller) return;
    const bool late = call->deadline.passed(runtime_.now());
    const bool begun = call->state == CallState::kBegun;
    const Duration stuck = begun ? Duration::zero() : stuck_for();
    const bool hopeless = stuck > limits_.disk_patience;
    if (begun && late) return call->finish(unknown_end());
    if (!begun && (late || hopeless) && call->become(CallState::kGivenUp))
      return call->finish(hopeless ? no_answer(stuck) : too_late());
    watch(call);
  });
}

Duration SqliteDatabase::stuck_for() const {
  const TimePoint since = busy_since_;
  return since == TimePoint{} ? Duration::zero() : runtime_.now() - since;
}

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
    busy_since_ = runtime_.now();
    job();
    busy_since_ = TimePoint{};
  }
}

Task<Result<std::vector<SqlRow>>> SqliteDatabase::read(SqlStatement statement, Deadline deadline) {
  const auto work = [this, statement = std::move(statement),
                     deadline]() -> Result<std::vector<SqlRow>> {
    if (deadline.passed(runtime_.now())) return too_late();
    const auto ready = connection();
    if (!ready) return std::unexpected(ready.error());
    return (*ready)->run(statement);
  };
  return on_worker<Result<std::vector<SqlRow>>>(work, deadline);
}

Task<Result<std::vector<SqlRow>>> SqliteDatabase::transact(std::vector<SqlStatement> statements,
                                                           Deadline deadline) {
  const auto work = [this, statements = std::move(statements),
                     deadline]() -> Result<std::vector<SqlRow>> {
    if (deadline.passed(runtime_.now())) return too_late();
    if (const Result<void> there = look_in_place(); !there) return std::unexpected(there.error());
    const auto ready = connection();
    if (!ready) return std::unexpected(ready.error());
    return (*ready)->transact(statements);
  };
  return on_worker<Result<std::vector<SqlRow>>>(work, deadline);
}

Task<Result<void>> SqliteDatabase::in_place(Deadline deadline) {
  const auto work = [this, deadline]() -> Result<void> {
    if (deadline.passed(runtime_.now())) return too_late();
    return look_in_place();
  };
  return on_worker<Result<void>>(work, deadline);
}

}  // namespace wardmote::net
