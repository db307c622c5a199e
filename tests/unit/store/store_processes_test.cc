// Several processes of one host, each with its own connection to one file, and kill -9.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "net/asio_runtime.h"
#include "net/sqlite/database.h"
#include "runtime/task.h"
#include "store/embedded_store.h"
#include "store/store.h"

namespace wardmote::store {
namespace {

using net::AsioRuntime;
using net::SqliteDatabase;
using runtime::Task;
using namespace std::chrono_literals;

constexpr Duration kPatience = 60s;

/// What a process needs.
struct Seat {
  explicit Seat(const std::string& path, net::SqliteLimits limits = {}) {
    auto opened = SqliteDatabase::open(runtime, path, limits);
    check(opened.has_value(), "the file cannot be opened");
    database = *std::move(opened);
    store = std::make_unique<EmbeddedStore>(runtime, *database, "this boot");
    const Result<void> made = net::run_task(runtime, store->open());
    check(made.has_value(), "the tables cannot be made");
  }
  Result<Committed> put_if(Transaction transaction) {
    return net::run_task(runtime,
                         store->put_if(std::move(transaction), runtime.deadline_in(kPatience)));
  }
  Result<Found> get(std::string key) {
    return net::run_task(runtime, store->get(std::move(key), runtime.deadline_in(kPatience)));
  }
  Result<Lease> grant(Duration ttl) {
    return net::run_task(runtime, store->grant(ttl, runtime.deadline_in(kPatience)));
  }
  Result<WatchBatch> next(Watch& watch) {
    return net::run_task(runtime, watch.next(runtime.deadline_in(kPatience)));
  }

  AsioRuntime runtime;
  std::unique_ptr<SqliteDatabase> database;
  std::unique_ptr<EmbeddedStore> store;
};

struct Child {
  pid_t pid = -1;
  int hears = -1;  ///< one byte for each thing done

  [[nodiscard]] bool heard_one() const {
    char byte = 0;
    return ::read(hears, &byte, 1) == 1;
  }
  /// kill -9; how much more it had done.
  std::int64_t end() {
    ::kill(pid, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "it ended by itself: " << status;
    std::int64_t more = 0;
    while (heard_one()) ++more;
    ::close(hears);
    return more;
  }
};

template <class Life>
Child start(const std::string& path, Life life) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it must not outlive a test that fails
    ::close(ends[0]);
    {
      Seat seat(path);
      life(seat, [to = ends[1]] { return ::write(to, "x", 1) == 1; });
    }
    ::_exit(1);
  }
  ::close(ends[1]);
  return {child, ends[0]};
}

/// Adds one to a number that all share, for ever.
void count(Seat& seat, const auto& tell) {
  for (;;) {
    const Result<Found> found = seat.get("count");
    if (!found) continue;  // the others kept it busy
    const Revision seen = found->key ? found->key->mod_revision : 0;
    const auto number =
        found->key ? parse_number<std::int64_t>(found->key->value).value_or(0) : std::int64_t{0};
    const Result<Committed> added = seat.put_if(
        {{Compare::unchanged_since("count", seen)}, {Put{"count", std::to_string(number + 1)}}});
    if (added && added->held && !tell()) return;
  }
}

/// Leads until it is killed.
void lead(Seat& seat, const auto& tell) {
  const Result<Lease> lease = seat.grant(3s);
  if (!lease) return;
  const auto led = seat.put_if({{Compare::absent("leader")}, {Put{"leader", "child", lease->id}}});
  if (!led || !led->held || !tell()) return;
  for (;;) {
    const auto kept = net::run_task(
        seat.runtime, seat.store->keep_alive(lease->id, seat.runtime.deadline_in(kPatience)));
    if (!kept) break;
  }
  ::pause();  // the machine was too slow for it; it is still to be killed
}

class StoreProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/wardmote-store-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/store.db"; }

 private:
  std::string folder_;
};

TEST_F(StoreProcesses, NoneOverwritesAnotherAndTheDeadLoseNothingThatTheySaidWasDone) {
  constexpr int kRounds = 8;
  std::vector<Child> children;
  const auto counts = [](Seat& seat, const auto& tell) { count(seat, tell); };
  for (int i = 0; i < 3; ++i) children.push_back(start(path(), counts));
  std::int64_t told = 0;
  for (int round = 0; round < kRounds; ++round) {
    // One of them dies wherever it is just then.
    Child& next = children[static_cast<std::size_t>(round) % children.size()];
    for (int i = 0; i < 10; ++i) told += next.heard_one() ? 1 : 0;
    told += next.end();
    next = start(path(), counts);
  }
  for (Child& child : children) told += child.end();
  Seat seat(path());
  const Result<Found> found = seat.get("count");
  ASSERT_TRUE(found && found->key);
  const auto number = *parse_number<std::int64_t>(found->key->value);
  EXPECT_GE(number, told);
  // A process dies between doing it and telling it at most once.
  EXPECT_LE(number, told + kRounds + 3);
  // Each change was one revision: nobody added to a number that was old.
  EXPECT_EQ(found->key->version, number);
}

TEST_F(StoreProcesses, WhoIsKilledWhileItHoldsALeaseIsSucceededWhenItLapses) {
  const Child child = start(path(), [](Seat& seat, const auto& tell) { lead(seat, tell); });
  ASSERT_TRUE(child.heard_one()) << "it leads";
  Seat seat(path());
  const Result<Found> leader = seat.get("leader");
  ASSERT_TRUE(leader && leader->key);
  const auto watch = seat.store->watch(KeyRange::one("leader"), leader->revision + 1);
  Child(child).end();
  const auto batch = seat.next(*watch);
  ASSERT_TRUE(batch) << batch.error().describe();
  EXPECT_TRUE(batch->events.at(0).removed);
  const auto next = seat.put_if({{Compare::absent("leader")}, {Put{"leader", "us"}}});
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->held);
  EXPECT_GT(next->revision, leader->key->create_revision);
}

TEST_F(StoreProcesses, AFullFileKeepsWhatItHasAndTheLeaseGoesOn) {
  Seat seat(path(), {.file_bytes = 256 << 10});
  const Result<Lease> lease = seat.grant(1h);
  ASSERT_TRUE(lease);
  ASSERT_TRUE(seat.put_if({{}, {Put{"leader", "us", lease->id}}}));
  Result<Committed> put;
  int kept = 0;
  for (; kept < 1000; ++kept) {
    put = seat.put_if({{}, {Put{"k" + std::to_string(kept), std::string(4000, 'x')}}});
    if (!put) break;
  }
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, Errc::kExhausted);
  EXPECT_TRUE(seat.get("k" + std::to_string(kept - 1))->key);
  EXPECT_FALSE(seat.get("k" + std::to_string(kept))->key);
  const auto kept_alive = net::run_task(
      seat.runtime, seat.store->keep_alive(lease->id, seat.runtime.deadline_in(kPatience)));
  EXPECT_TRUE(kept_alive) << kept_alive.error().describe();
  EXPECT_EQ(seat.get("leader")->key->value, "us");
  const auto erased = seat.put_if({{}, {Erase{KeyRange::prefix("k")}}});
  EXPECT_TRUE(erased) << erased.error().describe();
}

}  // namespace
}  // namespace wardmote::store
