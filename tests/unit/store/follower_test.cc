#include "store/follower.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/presence.h"
#include "store/store.h"

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;

class FollowerTest : public ::testing::Test {
 protected:
  FollowerTest() {
    EXPECT_TRUE(run_task(world, us, store.open()));
    follower.start();
    world.run_for(10ms);
  }
  ~FollowerTest() override { world.run(us, follower.stop()); }

  void write(StoreChange change) {
    Transaction one;
    one.changes.push_back(std::move(change));
    EXPECT_TRUE(run_task(world, us, store.put_if(std::move(one), us.deadline_in(1min))));
    world.run_for(200ms);
  }

  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database{us, disk};
  EmbeddedStore store{us, database, "boot", {.history = 20, .look_every = 50ms}};
  int changes = 0;
  Follower follower{us, store, "a/", [this](const Follower::Records&) { ++changes; }};
};

TEST_F(FollowerTest, KeepsInViewWhatOthersWrite) {
  EXPECT_EQ(changes, 1) << "at first there is nothing, and that is known";
  write(Put{"a/1", "x"});
  write(Put{"b/1", "x"});
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/1", "x"}}));
  EXPECT_EQ(changes, 2);
  write(Put{"a/1", "x"});
  EXPECT_EQ(changes, 2) << "the same value is no change";
  write(Put{"a/1", "y"});
  write(Erase{KeyRange::one("a/1")});
  EXPECT_TRUE(follower.records().empty());
  EXPECT_EQ(changes, 4);
}

/// It watches from the revision on that comes after the list.
TEST_F(FollowerTest, WhatTheListHadIsNoNewsAgain) {
  write(Put{"a/1", "x"});
  int told = 0;
  Follower later(us, store, "a/", [&told](const Follower::Records&) { ++told; });
  later.start();
  world.run_for(2s);
  EXPECT_EQ(told, 1);
  world.run(us, later.stop());
}

TEST_F(FollowerTest, AGapIsReadAnewAndWhatIsGoneDisappears) {
  write(Put{"a/1", "x"});
  us.pause();
  sim::SimRuntime& other = world.process("other", "us");
  sim::SimDatabase of_other(other, disk);
  EmbeddedStore theirs(other, of_other, "boot", {.history = 20});
  EXPECT_TRUE(run_task(world, other, theirs.open()));
  for (int i = 0; i < 60; ++i) {
    Transaction one;
    one.changes.emplace_back(Put{"a/2", std::to_string(i)});
    if (i == 0) one.changes.emplace_back(Erase{KeyRange::one("a/1")});
    EXPECT_TRUE(run_task(world, other, theirs.put_if(std::move(one), other.deadline_in(1min))));
  }
  us.resume();
  world.run_for(3s);
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/2", "59"}}));
}

TEST_F(FollowerTest, WhenTheStoreIsAwayItSaysSinceWhen) {
  const auto before = follower.confirmed();
  ASSERT_TRUE(before);
  write(Put{"a/1", "x"});
  EXPECT_GT(*follower.confirmed(), *before);
}

/// A fake: a store whose list has the revision that it is told, and whose watch begins anew at
/// once.
class FakeSetBackStore final : public Store {
 public:
  Revision revision = 7;
  std::vector<KeyValue> keys;
  Errc no_news = Errc::kMissing;
  bool resumes = false;             ///< at the end of the next wait for news
  sim::SimRuntime* host = nullptr;  ///< for the time that passes without news

  runtime::Task<Result<Found>> get(std::string, runtime::Deadline) override {
    co_return Found{revision, std::nullopt};
  }
  runtime::Task<Result<Snapshot>> list(KeyRange, runtime::Deadline) override {
    co_return Snapshot{revision, keys};
  }
  runtime::Task<Result<Committed>> put_if(Transaction, runtime::Deadline) override {
    co_return Committed{true, revision};
  }
  std::unique_ptr<Watch> watch(KeyRange, Revision) override { return std::make_unique<Gap>(*this); }
  runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline) override {
    co_return Lease{1, ttl};
  }
  runtime::Task<Result<Lease>> keep_alive(LeaseId id, runtime::Deadline) override {
    co_return Lease{id, 1s};
  }
  runtime::Task<Result<void>> revoke(LeaseId, runtime::Deadline) override {
    co_return Result<void>();
  }

 private:
  struct Gap final : Watch {
    explicit Gap(FakeSetBackStore& of) : of(of) {}
    FakeSetBackStore& of;
    bool away = false;
    [[nodiscard]] bool resumed() const noexcept override { return away; }
    runtime::Task<Result<WatchBatch>> next(runtime::Deadline deadline) override {
      if (of.no_news == Errc::kTimeout) co_await of.host->sleep_until(deadline.at);
      away = away || std::exchange(of.resumes, false);
      co_return fail(of.no_news, "forgotten");
    }
  };
};

/// The revision at which it was watched may be there again, in another history.
TEST_F(FollowerTest, AStoreThatWasAwayIsReadAnew) {
  FakeSetBackStore away;
  away.no_news = Errc::kClosed;
  away.keys = {{.key = "a/1", .value = "of the one"}};
  Follower later(us, away, "a/", [](const Follower::Records&) {});
  later.start();
  world.run_for(3s);
  away.keys = {{.key = "a/1", .value = "of the other"}};
  world.run_for(3s);
  EXPECT_EQ(later.records().at("a/1"), "of the other");
  world.run(us, later.stop());
}

TEST_F(FollowerTest, AStoreThatIsThereAgainBeforeAnybodyNoticedIsReadAnew) {
  FakeSetBackStore away;
  away.host = &us;
  away.no_news = Errc::kTimeout;
  away.keys = {{.key = "a/1", .value = "of the one"}};
  Follower later(us, away, "a/", [](const Follower::Records&) {});
  later.start();
  world.run_for(3s);
  away.keys = {{.key = "a/1", .value = "of the other"}};
  away.resumes = true;
  world.run_for(30s);
  EXPECT_EQ(later.records().at("a/1"), "of the other");
  world.run(us, later.stop());
}

TEST_F(FollowerTest, AStoreThatWasSetBackIsToldOnce) {
  FakeSetBackStore store;
  std::vector<std::string> told;
  Follower late(us, store, "a/", [](const Follower::Records&) {});
  store.seen().when_set_back(
      [&told](const std::string& what) { told.push_back(what.substr(0, what.find(":"))); });
  late.start();
  world.run_for(10s);
  store.revision = 9;
  world.run_for(10s);
  EXPECT_TRUE(told.empty());
  store.revision = 4;
  world.run_for(10s);
  EXPECT_EQ(told,
            (std::vector<std::string>{"the store was at revision 9, and what it says is of 4"}));
  world.run(us, late.stop());
}

class PresenceTest : public FollowerTest {
 protected:
  ~PresenceTest() override { world.run(us, presence.stop()); }
  Presence presence{us, store, "a/here", "boot", 6s};
};

TEST_F(PresenceTest, ARecordIsThereWhileTheAgentLivesAndOthersStay) {
  presence.put("a/kept", "1");
  presence.start();
  world.run_for(1s);
  EXPECT_EQ(follower.records().size(), 2U);
  presence.put("a/kept", "2");
  presence.put("a/kept", "3");
  world.run_for(1min);
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/here", "boot"}, {"a/kept", "3"}}));
  world.run(us, presence.stop());
  world.run_for(1s);
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/kept", "3"}}));
}

TEST_F(PresenceTest, WhatIsPutAtOnceIsWrittenTogether) {
  presence.start();
  world.run_for(1s);
  const int before = changes;
  presence.put("a/one", "1");
  world.run_for(50ms);
  presence.put("a/two", "1");
  world.run_for(1s);
  EXPECT_EQ(follower.records().size(), 3U);
  EXPECT_EQ(changes, before + 1);
}

TEST_F(PresenceTest, WhatSomebodyTookAwayIsWrittenAgainWhenItIsMissed) {
  presence.put("a/kept", "1");
  presence.put("a/other", "1");
  presence.start();
  world.run_for(1s);
  EXPECT_TRUE(presence.stays(follower.records()));
  write(Erase{KeyRange::one("a/kept")});
  write(Put{"a/other", "forged"});
  write(Erase{KeyRange::one("a/here")});
  EXPECT_FALSE(presence.stays(follower.records()));
  presence.write_again(follower.records());
  world.run_for(1s);
  const Follower::Records all{{"a/here", "boot"}, {"a/kept", "1"}, {"a/other", "1"}};
  EXPECT_EQ(follower.records(), all);
  EXPECT_TRUE(presence.stays(follower.records()));
  world.run(us, presence.stop());
  world.run_for(1s);
  EXPECT_FALSE(follower.records().contains("a/here")) << "it goes with the lease all the same";
}

/// A lease that could not be prolonged is tried again while it lasts, and not a third of it later.
TEST_F(PresenceTest, AStoreThatComesBackBeforeTheLeaseEndsHasMissedNothing) {
  presence.start();
  world.run_for(1900ms);
  disk.fail_with(Errc::kClosed);
  world.run_for(3s);
  disk.fail_with({});
  const int seen = changes;
  world.run_for(10s);
  EXPECT_EQ(changes, seen) << "the record was taken away and written again";
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/here", "boot"}}));
}

TEST_F(PresenceTest, WhatWasLostComesBackWithTheStore) {
  presence.start();
  world.run_for(1s);
  disk.fail_with(Errc::kClosed);
  presence.put("a/kept", "1");
  world.run_for(1min);
  EXPECT_TRUE(presence.complaint());
  disk.fail_with({});
  world.run_for(1500ms);
  EXPECT_FALSE(presence.complaint()) << "before the lease has to be prolonged";
  world.run_for(20s);
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/here", "boot"}, {"a/kept", "1"}}));
}

/// A fake: as an etcd whose quota is used up, it takes no value and still removes.
class FakeFullStore final : public Store {
 public:
  explicit FakeFullStore(Store& store) : store_(store) {}
  bool full = false;

  runtime::Task<Result<Found>> get(std::string key, runtime::Deadline deadline) override {
    return store_.get(std::move(key), deadline);
  }
  runtime::Task<Result<Snapshot>> list(KeyRange keys, runtime::Deadline deadline) override {
    return store_.list(std::move(keys), deadline);
  }
  runtime::Task<Result<Committed>> put_if(Transaction change, runtime::Deadline deadline) override {
    const bool puts = std::ranges::any_of(
        change.changes, [](const StoreChange& one) { return std::holds_alternative<Put>(one); });
    if (full && puts) return refuse();
    return store_.put_if(std::move(change), deadline);
  }
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from) override {
    return store_.watch(std::move(keys), from);
  }
  runtime::Task<Result<Lease>> grant(Duration ttl, runtime::Deadline deadline) override {
    return store_.grant(ttl, deadline);
  }
  runtime::Task<Result<Lease>> keep_alive(LeaseId id, runtime::Deadline deadline) override {
    return store_.keep_alive(id, deadline);
  }
  runtime::Task<Result<void>> revoke(LeaseId id, runtime::Deadline deadline) override {
    return store_.revoke(id, deadline);
  }

 private:
  static runtime::Task<Result<Committed>> refuse() {
    co_return fail(Errc::kExhausted, "database space exceeded");
  }

  Store& store_;
};

/// What was true before must not be taken for what is true now.
TEST_F(FollowerTest, InAStoreThatIsFullNoViewOfBeforeStays) {
  FakeFullStore filling(store);
  Presence presence(us, filling, "a/here", "boot", 6s);
  presence.put("a/kept", "1");
  presence.put_view("a/view", "1");
  presence.start();
  world.run_for(1s);
  EXPECT_FALSE(presence.full());
  filling.full = true;
  presence.put("a/kept", "2");
  presence.put_view("a/view", "2");
  world.run_for(1s);
  EXPECT_TRUE(presence.full());
  EXPECT_EQ(follower.records(), (Follower::Records{{"a/here", "boot"}, {"a/kept", "1"}}));
  filling.full = false;
  world.run_for(1s);
  EXPECT_FALSE(presence.full());
  EXPECT_EQ(follower.records(),
            (Follower::Records{{"a/here", "boot"}, {"a/kept", "2"}, {"a/view", "2"}}));
  world.run(us, presence.stop());
}

}  // namespace
}  // namespace wardmote::store
