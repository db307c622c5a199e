#include "net/sqlite/database.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "net/asio_runtime.h"
#include "net/sqlite/connection.h"
#include "net/unique_fd.h"

namespace wardmote::net {
namespace {

using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;
using namespace std::chrono_literals;

class SqliteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/wardmote-sqlite-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/a.db"; }

  std::string folder_;
};

SqlStatement make_table() {
  return {"CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT) STRICT", {}};
}
SqlStatement insert(std::int64_t n, std::string s) {
  return {"INSERT INTO t VALUES (?, ?)", {n, std::move(s)}};
}

TEST_F(SqliteTest, ValuesComeBackAsTheyWereBound) {
  auto connection = SqliteConnection::open(path());
  ASSERT_TRUE(connection) << connection.error().describe();
  const std::string hostile("'); DROP TABLE t; --\0x", 22);
  ASSERT_TRUE(connection->commit({make_table(), insert(1, hostile), insert(2, "")}));
  ASSERT_TRUE(connection->run({"INSERT INTO t VALUES (3, NULL)", {}}));
  const auto rows = connection->run({"SELECT n, s FROM t ORDER BY n", {}});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].integer(0), 1);
  EXPECT_EQ(*(*rows)[0].text(1), hostile);
  EXPECT_EQ(*(*rows)[1].text(1), "");
  EXPECT_EQ((*rows)[2].text(1), nullptr);
  EXPECT_EQ((*rows)[0].integer(1), std::nullopt);
  EXPECT_EQ((*rows)[0].integer(7), std::nullopt);
}

/// As two agents that begin with a store that neither has made yet.
TEST_F(SqliteTest, AFileThatSeveralMakeAtOnceOpensForAll) {
  for (int round = 0; round < 20; ++round) {
    const std::string file = folder_ + "/" + std::to_string(round) + ".db";
    std::vector<std::string> faults(4);
    {
      std::vector<std::jthread> openers;
      for (std::string& fault : faults)
        openers.emplace_back([&fault, &file] {
          const auto opened = SqliteConnection::open(file);
          if (!opened) fault = opened.error().describe();
        });
    }
    EXPECT_EQ(faults, std::vector<std::string>(4)) << "round " << round;
  }
}

TEST_F(SqliteTest, ATransactionIsAllOrNothing) {
  auto connection = SqliteConnection::open(path());
  ASSERT_TRUE(connection->commit({make_table()}));
  const auto twice = connection->commit({insert(1, "a"), insert(1, "b")});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Errc::kRejected);
  EXPECT_TRUE(connection->run({"SELECT * FROM t", {}})->empty());
}

TEST_F(SqliteTest, OnlyItsOwnerMayReadTheFile) {
  ASSERT_TRUE(SqliteConnection::open(path()));
  struct stat facts{};
  ASSERT_EQ(::stat(path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(SqliteTest, WhatIsNoDatabaseIsSaidToBeDamaged) {
  std::ofstream(path()) << std::string(8192, 'x');
  const auto opened = SqliteConnection::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kProtocol);
}

TEST_F(SqliteTest, AFileOverwrittenInTheMiddleIsSaidToBeDamaged) {
  {
    auto connection = SqliteConnection::open(path());
    std::vector<SqlStatement> many = {make_table()};
    for (int i = 0; i < 2000; ++i) many.push_back(insert(i, std::string(100, 'a')));
    ASSERT_TRUE(connection->commit(many));
  }
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8192);
  file << std::string(16384, '\xff');
  file.close();
  const auto opened = SqliteConnection::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kProtocol);
}

TEST_F(SqliteTest, ALinkIsNotFollowedAndAMissingFolderIsMissing) {
  ASSERT_EQ(::symlink("/etc/passwd", path().c_str()), 0);
  EXPECT_FALSE(SqliteConnection::open(path()));
  const auto missing = SqliteConnection::open(folder_ + "/no/a.db");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kMissing);
}

TEST_F(SqliteTest, AFullDatabaseIsExhaustedAndStaysWhole) {
  auto connection = SqliteConnection::open(path(), {.file_bytes = 64 << 10});
  ASSERT_TRUE(connection->commit({make_table()}));
  Result<void> written;
  for (int i = 0; i < 100 && written; ++i) {
    written = connection->commit({insert(i, std::string(4000, 'a'))});
  }
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kExhausted);
  ASSERT_TRUE(connection->commit({{"DELETE FROM t WHERE n < 5", {}}}));
  EXPECT_TRUE(connection->commit({insert(1000, "b")}));
}

TEST_F(SqliteTest, AnotherProcessThatHoldsItIsATimeout) {
  auto one = SqliteConnection::open(path(), {.busy_ms = 10});
  auto other = SqliteConnection::open(path(), {.busy_ms = 10});
  ASSERT_TRUE(one->commit({make_table()}));
  Result<void> meanwhile;
  ASSERT_TRUE(one->commit({insert(1, "a")}, [&] {
    meanwhile = other->commit({insert(2, "b")});
    return true;
  }));
  ASSERT_FALSE(meanwhile);
  EXPECT_EQ(meanwhile.error().code, Errc::kTimeout);
  EXPECT_TRUE(other->commit({insert(2, "b")}));
}

TEST_F(SqliteTest, WhatMakesNoSenseIsInvalid) {
  auto connection = SqliteConnection::open(path());
  for (const char* text : {"SELECT", "SELECT 1; SELECT 2", "", "SELECT ?"}) {
    const auto done = connection->run({text, {}});
    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().code, Errc::kInvalid) << text;
  }
}

TEST_F(SqliteTest, MoreRowsThanTheCapAreALimit) {
  auto connection = SqliteConnection::open(path(), {.rows = 2});
  ASSERT_TRUE(connection->commit({make_table(), insert(1, ""), insert(2, ""), insert(3, "")}));
  EXPECT_EQ(connection->run({"SELECT * FROM t", {}}).error().code, Errc::kLimit);
}

Task<Result<void>> write_some(AsioRuntime* runtime, SqliteDatabase* database) {
  const runtime::Deadline deadline = runtime->deadline_in(10s);
  std::vector<SqlStatement> statements = {make_table(), insert(1, "a")};
  Result<void> written = co_await database->commit(std::move(statements), deadline);
  if (!written) co_return written;
  SqlStatement query{"SELECT s FROM t", {}};
  const auto rows = co_await database->read(std::move(query), deadline);
  EXPECT_EQ(rows->size(), 1U);
  const runtime::Deadline passed{runtime->now() - 1ns};
  SqlStatement late{"SELECT s FROM t", {}};
  const auto too_late = co_await database->read(std::move(late), passed);
  EXPECT_EQ(too_late.error().code, Errc::kTimeout);
  co_return written;
}

TEST_F(SqliteTest, TheLoopAsksAndAWorkerDoes) {
  AsioRuntime runtime;
  auto database = SqliteDatabase::open(runtime, path());
  ASSERT_TRUE(database);
  const auto written = run_task(runtime, write_some(&runtime, database->get()));
  EXPECT_TRUE(written) << written.error().describe();
}

Task<Result<void>> write_one(AsioRuntime* runtime, SqliteDatabase* database, std::int64_t n) {
  std::vector<SqlStatement> statements = {
      {"CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, s TEXT) STRICT", {}}, insert(n, "a")};
  Result<void> done = co_await database->commit(std::move(statements), runtime->deadline_in(9s));
  co_return done;
}

TEST_F(SqliteTest, AFileThatWasTakenAwayIsNotWrittenAnyMore) {
  AsioRuntime runtime;
  auto database = SqliteDatabase::open(runtime, path());
  ASSERT_TRUE(database);
  SqliteDatabase* const ours = database->get();
  const auto in_place = [&] { return run_task(runtime, ours->in_place(runtime.deadline_in(9s))); };
  EXPECT_TRUE(run_task(runtime, write_one(&runtime, ours, 1)));
  EXPECT_TRUE(in_place());
  const std::string aside = folder_ + "/aside.db";
  std::filesystem::rename(path(), aside);
  EXPECT_EQ(in_place().error().code, Errc::kMissing);
  EXPECT_EQ(run_task(runtime, write_one(&runtime, ours, 2)).error().code, Errc::kMissing);
  std::filesystem::copy_file(aside, path());
  EXPECT_EQ(in_place().error().context, path() + " is not the file that this agent has opened");
  EXPECT_EQ(run_task(runtime, write_one(&runtime, ours, 2)).error().code, Errc::kMissing);
  std::filesystem::rename(aside, path());
  EXPECT_TRUE(in_place());
  EXPECT_TRUE(run_task(runtime, write_one(&runtime, ours, 2))) << "nothing was lost";
}

TEST_F(SqliteTest, NobodyWritesWhoMayNot) {
  AsioRuntime runtime;
  bool may = true;
  auto database = SqliteDatabase::open(runtime, path(), {}, [&]() -> Result<void> {
    if (may) return {};
    return fail(Errc::kMissing, "the lock");
  });
  ASSERT_TRUE(database);
  EXPECT_TRUE(run_task(runtime, write_one(&runtime, database->get(), 1)));
  may = false;
  EXPECT_EQ(run_task(runtime, write_one(&runtime, database->get(), 2)).error().context, "the lock");
}

/// As a file system that is frozen: the worker stands still in the middle of a call.
TEST_F(SqliteTest, WhoeverWaitsForADiskThatDoesNotAnswerGivesUp) {
  AsioRuntime runtime;
  std::mutex disk;
  std::unique_lock frozen(disk);
  auto database = SqliteDatabase::open(runtime, path(), {.disk_patience = 100ms}, [&] {
    const std::scoped_lock answers(disk);
    return Result<void>();
  });
  ASSERT_TRUE(database);
  const auto write = [&](std::int64_t n, Duration patience) {
    std::vector<SqlStatement> statements = {
        {"CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, s TEXT) STRICT", {}},
        insert(n, "a")};
    const auto deadline = runtime.deadline_in(patience);
    return run_task(runtime, (*database)->commit(std::move(statements), deadline));
  };
  const Result<void> first = write(1, 200ms);
  EXPECT_EQ(first.error().code, Errc::kTimeout);
  EXPECT_TRUE(first.error().context.contains("not known whether")) << first.error().context;
  const TimePoint asked = runtime.now();
  const Result<void> second = write(2, 10min);
  EXPECT_EQ(second.error().code, Errc::kTimeout);
  EXPECT_TRUE(second.error().context.contains("has not answered")) << second.error().context;
  EXPECT_LT(runtime.now() - asked, 1min);
  frozen.unlock();
  // It begins to answer.
  for (Result<void> third = write(3, 9s); !third; third = write(3, 9s))
    ASSERT_EQ(third.error().code, Errc::kTimeout);
  const auto rows = run_task(
      runtime, (*database)->read({"SELECT n FROM t ORDER BY n", {}}, runtime.deadline_in(9s)));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].integer(0), 1) << "what was begun may still be done";
  EXPECT_EQ((*rows)[1].integer(0), 3) << "what was not begun is not done later";
}

/// Writes ascending numbers, two rows in each transaction, and tells each number after its commit.
[[noreturn]] void write_until_killed(const std::string& path, int tell) {
  auto connection = SqliteConnection::open(path);
  if (!connection) ::_exit(1);
  (void)connection->run(
      {"CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, s TEXT) STRICT", {}});
  const auto last = connection->run({"SELECT ifnull(max(n), 0) FROM t", {}});
  for (std::int64_t n = *last->front().integer(0) + 1;; n += 2) {
    if (!connection->commit({insert(n, "odd"), insert(n + 1, "even")})) ::_exit(2);
    const std::int64_t done = n + 1;
    if (::write(tell, &done, sizeof done) != sizeof done) ::_exit(3);
  }
}

TEST_F(SqliteTest, KilledAtAnyMomentItKeepsWhatItSaidItKept) {
  std::mt19937 random(7);  // NOLINT: the same moments every time
  std::int64_t told = 0;
  std::int64_t done = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(path(), theirs.get());
    theirs.reset();
    for (auto heard = random() % 8; heard > 0; --heard) {
      ASSERT_EQ(::read(ours.get(), &done, sizeof done), ssize_t{sizeof done});
      told = done;
    }
    // Not a wait for something: the moment of death is what is random here.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    while (::read(ours.get(), &done, sizeof done) == sizeof done) told = done;

    auto connection = SqliteConnection::open(path());
    ASSERT_TRUE(connection) << connection.error().describe();
    const auto exists = connection->run({"SELECT 1 FROM sqlite_master WHERE name = 't'", {}});
    if (exists->empty()) continue;
    const auto rows = connection->run({"SELECT count(*), ifnull(max(n), 0) FROM t", {}});
    EXPECT_EQ(rows->front().integer(0), rows->front().integer(1));  // no gap
    EXPECT_EQ(*rows->front().integer(0) % 2, 0);                    // no half transaction
    EXPECT_GE(*rows->front().integer(0), told);
  }
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace wardmote::net
