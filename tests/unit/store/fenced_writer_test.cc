#include "store/fenced_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::store {
namespace {

using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

/// Makes a change when nobody waits for it any more.
class FakeLateStore final : public Store {
 public:
  FakeLateStore(sim::World& world, sim::SimRuntime& us, Store& real)
      : world_(world), us_(us), real_(real) {}

  Task<Result<Found>> get(std::string key, Deadline deadline) override {
    ++looks;
    return real_.get(std::move(key), deadline);
  }
  Task<Result<Snapshot>> list(KeyRange keys, Deadline deadline) override {
    return real_.list(std::move(keys), deadline);
  }
  Task<Result<Committed>> put_if(Transaction transaction, Deadline deadline) override {
    if (!late) {
      Result<Committed> put = co_await real_.put_if(std::move(transaction), deadline);
      co_return put;
    }
    on_the_way_.push_back(std::move(transaction));
    co_return fail(Errc::kTimeout, "no answer");
  }
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override {
    return real_.watch(std::move(keys), from);
  }
  Task<Result<Lease>> grant(Duration ttl, Deadline deadline) override {
    return real_.grant(ttl, deadline);
  }
  Task<Result<Lease>> keep_alive(LeaseId lease, Deadline deadline) override {
    return real_.keep_alive(lease, deadline);
  }
  Task<Result<void>> revoke(LeaseId lease, Deadline deadline) override {
    return real_.revoke(lease, deadline);
  }

  /// What was on its way comes now.
  void arrive() {
    for (Transaction& transaction : std::exchange(on_the_way_, {})) {
      const auto done = run_task(world_, us_, real_.put_if(transaction, us_.deadline_in(1min)));
      EXPECT_TRUE(done);
    }
  }

  bool late = false;
  int looks = 0;

 private:
  sim::World& world_;
  sim::SimRuntime& us_;
  Store& real_;
  std::vector<Transaction> on_the_way_;
};

class FencedWriterTest : public ::testing::Test {
 protected:
  FencedWriterTest() {
    EXPECT_TRUE(run(real_.open()));
    EXPECT_TRUE(run(leadership_.take()));
  }

  template <class T>
  T run(Task<T> task) {
    return run_task(world_, us_, std::move(task));
  }
  Result<void> write(const std::string& value) {
    RecordChanges changes;
    changes["x"] = value;
    return run(writer_.write(std::move(changes), us_.deadline_in(10s)));
  }
  std::string value() {
    const auto found = run(real_.get("x", us_.deadline_in(10s)));
    return found && found->key ? found->key->value : "";
  }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk disk_;
  sim::SimDatabase database_{us_, disk_};
  EmbeddedStore real_{us_, database_, "boot"};
  FakeLateStore store_{world_, us_, real_};
  SoleLeadership leadership_{us_, &real_};
  FencedWriter writer_{store_, leadership_, "last/write/test"};
};

TEST_F(FencedWriterTest, WhatComesLateDoesNotUndoWhatCameAfterIt) {
  EXPECT_TRUE(write("1"));
  store_.late = true;
  EXPECT_EQ(write("2").error().code, Errc::kTimeout);
  store_.late = false;
  EXPECT_TRUE(write("3"));
  store_.arrive();
  EXPECT_EQ(value(), "3");
  EXPECT_TRUE(write("4"));
  EXPECT_EQ(value(), "4");
}

TEST_F(FencedWriterTest, WhatComesBeforeTheNextIsWrittenIsInOrder) {
  EXPECT_TRUE(write("1"));
  store_.late = true;
  EXPECT_FALSE(write("2"));
  store_.late = false;
  store_.arrive();
  EXPECT_EQ(value(), "2");
  EXPECT_TRUE(write("3"));
  EXPECT_EQ(value(), "3");
}

/// For who leads again under the same fence, and reads.
TEST_F(FencedWriterTest, AfterItHasSettledNothingComesAnyMore) {
  EXPECT_TRUE(write("1"));
  store_.late = true;
  EXPECT_FALSE(write("2"));
  EXPECT_FALSE(run(writer_.settle(us_.deadline_in(10s))));
  store_.late = false;
  EXPECT_TRUE(run(writer_.settle(us_.deadline_in(10s))));
  EXPECT_EQ(value(), "1");
  store_.arrive();
  EXPECT_EQ(value(), "1");
}

/// Of two that were not answered, and the one that was.
TEST_F(FencedWriterTest, OfAllThatAreTiedToOneMomentOneHolds) {
  store_.late = true;
  EXPECT_FALSE(write("1"));
  EXPECT_FALSE(write("2"));
  store_.arrive();
  EXPECT_EQ(value(), "1");
  store_.late = false;
  EXPECT_TRUE(write("3"));
  EXPECT_EQ(value(), "3");
}

TEST_F(FencedWriterTest, WhatFollowsAnAnswerIsWrittenWithoutALook) {
  EXPECT_TRUE(write("1"));
  const int looks = store_.looks;
  EXPECT_TRUE(write("2"));
  EXPECT_TRUE(write("3"));
  EXPECT_EQ(store_.looks, looks);
}

TEST_F(FencedWriterTest, WhoLeadsNoMoreChangesNothing) {
  EXPECT_TRUE(write("1"));
  SoleLeadership other(us_, &real_);
  EXPECT_TRUE(run(other.take()));
  EXPECT_EQ(write("2").error().code, Errc::kRejected);
  EXPECT_EQ(value(), "1");
}

}  // namespace
}  // namespace wardmote::store
