#include "store/store.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/task.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/adoption.h"
#include "store/embedded_store.h"
#include "store/records.h"
#include "unit/store/store_model.h"

namespace wardmote::store {
namespace {

using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

constexpr Duration kTick = 10ms;
constexpr Revision kHistory = 12;
constexpr EmbeddedLimits kLimits{.history = kHistory, .look_every = 100ms};

/// Bytes that stand for choices, so that a failure shrinks to the fewest and smallest.
using Choices = std::array<std::uint8_t, 8>;

std::string key_for(std::uint8_t choice) {
  static const std::vector<std::string> kKeys = {"a", "a/1", "a/2", "b", "b\xff", "b\xff/x", "c"};
  return kKeys[choice % kKeys.size()];
}

KeyRange range_for(std::uint8_t choice) {
  if (choice % 4 == 0) return KeyRange::prefix("");
  if (choice % 4 == 1) return KeyRange::prefix(key_for(choice / 4));
  return KeyRange::one(key_for(choice / 4));
}

Compare compare_for(std::uint8_t kind, std::uint8_t operand) {
  Compare compare;
  compare.keys = range_for(kind);
  compare.target = static_cast<Compare::Target>(operand % 5);
  compare.relation = static_cast<Compare::Relation>(operand / 5 % 4);
  if (compare.target == Compare::Target::kValue) {
    compare.operand = std::string(1, static_cast<char>('x' + operand % 3));
  } else {
    compare.operand = static_cast<std::int64_t>(operand / 20);
  }
  return compare;
}

Transaction transaction_for(const Choices& by) {
  Transaction made;
  if (by[1] % 3 != 0) made.conditions.push_back(compare_for(by[2], by[3]));
  if (by[1] % 7 == 0) made.conditions.push_back(compare_for(by[3], by[2]));
  Put put{key_for(by[4]), std::string(1, static_cast<char>('x' + by[5] % 3)), 0};
  if (by[5] % 2 == 1) put.lease = 1 + by[5] / 2 % 4;
  if (by[6] % 3 != 0) made.changes.emplace_back(put);
  const KeyRange erased = range_for(by[7]);
  const bool both = by[6] % 3 != 0 && erased.holds(put.key);
  if (by[6] % 2 == 0 && !both) made.changes.emplace_back(Erase{erased});
  return made;
}

std::string show(const std::vector<KeyValue>& keys) {
  std::string text;
  for (const KeyValue& key : keys) {
    text += fmt::format("{}={} {}/{}/{} {}\n", key.key, key.value, key.create_revision,
                        key.mod_revision, key.version, key.lease);
  }
  return text;
}

std::string show(const std::vector<KeyEvent>& events) {
  std::string text;
  for (const KeyEvent& event : events) text += (event.removed ? "-" : "+") + show({event.key});
  return text;
}

std::string show(const Snapshot& snapshot) {
  return fmt::format("@{}\n{}", snapshot.revision, show(snapshot.keys));
}

std::string show(const Result<Committed>& committed) {
  if (!committed) return std::string(to_string(committed.error().code));
  return fmt::format("{} @{}", committed->held, committed->revision);
}

/// All that happened from `from` on, in batches, until nothing comes.
Task<Result<std::vector<KeyEvent>>> follow(Store* store, SimRuntime* us, KeyRange keys,
                                           Revision from) {
  const std::unique_ptr<Watch> watch = store->watch(std::move(keys), from);
  std::vector<KeyEvent> events;
  const runtime::Deadline deadline = us->deadline_in(kTick / 2);
  for (;;) {
    const Result<WatchBatch> batch = co_await watch->next(deadline);
    if (!batch && batch.error().code == Errc::kTimeout) co_return events;
    if (!batch) co_return std::unexpected(batch.error());
    for (const KeyEvent& event : batch->events) {
      EXPECT_LE(event.key.mod_revision, batch->upto);
      events.push_back(event);
    }
  }
}

/// One process on one disk; also what it does to the model.
class StoreProcess {
 public:
  StoreProcess(World& world, SimRuntime& us, SimDisk& disk, std::string boot = "boot 1")
      : world_(world),
        us_(us),
        database_(us, disk),
        store_(us, database_, std::move(boot), kLimits) {
    disk.restart();
    const Result<void> opened = run_task(world_, us_, store_.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }

  Result<Committed> put_if(Transaction transaction) {
    return run_task(world_, us_, store_.put_if(std::move(transaction), soon()));
  }
  Result<Committed> put(std::string key, std::string value, LeaseId lease = 0) {
    return put_if({{}, {Put{std::move(key), std::move(value), lease}}});
  }
  Result<Snapshot> list(KeyRange keys = KeyRange::prefix("")) {
    return run_task(world_, us_, store_.list(std::move(keys), soon()));
  }
  std::optional<KeyValue> get(std::string key) {
    const auto found = run_task(world_, us_, store_.get(std::move(key), soon()));
    EXPECT_TRUE(found) << found.error().describe();
    return found ? found->key : std::nullopt;
  }
  Result<Lease> grant(Duration ttl) { return run_task(world_, us_, store_.grant(ttl, soon())); }
  Result<Lease> keep_alive(LeaseId id) {
    return run_task(world_, us_, store_.keep_alive(id, soon()));
  }
  Result<void> revoke(LeaseId id) { return run_task(world_, us_, store_.revoke(id, soon())); }
  Result<std::vector<KeyEvent>> events(KeyRange keys, Revision from) {
    return run_task(world_, us_, follow(&store_, &us_, std::move(keys), from));
  }
  EmbeddedStore& store() { return store_; }

  /// Does the same to both, and compares what they answer.
  void step(StoreModel& model, const Choices& by) {
    switch (by[0] % 8) {
      case 0: {
        const Duration ttl = kTick * (1 + by[1] % 5);
        const auto granted = grant(ttl);
        ASSERT_TRUE(granted);
        EXPECT_EQ(granted->id, model.grant(ttl, us_.now()));
        break;
      }
      case 1: {
        const auto kept = keep_alive(1 + by[1] % 4);
        EXPECT_EQ(kept.has_value(), model.keep_alive(1 + by[1] % 4, us_.now()));
        if (!kept) EXPECT_EQ(kept.error().code, Errc::kMissing);
        break;
      }
      case 2: {
        const auto revoked = revoke(1 + by[1] % 4);
        EXPECT_EQ(revoked.has_value(), model.revoke(1 + by[1] % 4, us_.now()));
        break;
      }
      case 3: world_.run_for(kTick * (by[1] % 8)); break;
      case 4: compare(model, range_for(by[1]), by[2]); break;
      default: {
        const Transaction transaction = transaction_for(by);
        const auto expected = model.put_if(transaction, us_.now());
        const Result<Committed> wanted =
            expected ? Result<Committed>(*expected) : fail(Errc::kRejected, "");
        EXPECT_EQ(show(put_if(transaction)), show(wanted));
      }
    }
  }

  void compare(StoreModel& model, const KeyRange& keys, std::uint8_t behind) {
    const auto snapshot = list(keys);
    ASSERT_TRUE(snapshot) << snapshot.error().describe();
    EXPECT_EQ(show(*snapshot), show(model.list(keys, us_.now())));
    const Revision from = std::max<Revision>(1, model.revision() + 1 - behind % (2 * kHistory));
    const auto expected = model.events(keys, from, us_.now());
    const auto seen = events(keys, from);
    if (expected) {
      ASSERT_TRUE(seen) << seen.error().describe();
      EXPECT_EQ(show(*seen), show(*expected));
    } else {
      EXPECT_EQ(seen.error().code, Errc::kMissing);
    }
    world_.run_for(kTick - kTick / 2);
  }

 private:
  [[nodiscard]] runtime::Deadline soon() const { return us_.deadline_in(1min); }

  World& world_;
  SimRuntime& us_;
  SimDatabase database_;
  EmbeddedStore store_;
};

TEST(Store, DoesWhatTheModelDoes) {
  const bool held = rc::check([](const std::vector<Choices>& steps) {
    World world(1);
    SimRuntime& us = world.host("us");
    SimDisk disk;
    StoreProcess process(world, us, disk);
    StoreModel model(kHistory);
    for (const Choices& by : steps) {
      process.step(model, by);
      RC_ASSERT(!::testing::Test::HasFailure());
    }
    process.compare(model, KeyRange::prefix(""), 0);
    RC_ASSERT(!::testing::Test::HasFailure());
  });
  EXPECT_TRUE(held);
}

/// A long life of random steps, in which the process dies before any write: what was answered
/// stands, and what was not is there whole or not at all.
SIM_TEST_SEEDS(SimStore, KilledAtAnyWriteItIsWholeAndKeepsWhatItAnswered, 60) {
  SimDisk disk;
  SimRuntime& us = sim.host("us");
  StoreModel model(kHistory);
  auto process = std::make_unique<StoreProcess>(sim, us, disk);
  for (int i = 0; i < 60; ++i) {
    Choices by;
    for (std::uint8_t& one : by) one = static_cast<std::uint8_t>(sim.random().below(256));
    if (by[0] % 8 < 5 || !sim.random().chance(0.3)) {
      process->step(model, by);
      continue;
    }
    StoreModel after = model;
    const Transaction transaction = transaction_for(by);
    (void)after.put_if(transaction, us.now());
    disk.die_before(1 + sim.random().below(12));
    auto orphan = [](Store* store, Transaction what, runtime::Deadline until) -> Task<void> {
      (void)co_await store->put_if(std::move(what), until);
    }(&process->store(), transaction, us.deadline_in(1min));
    us.spawn("put", std::move(orphan));
    sim.run_until([&] { return disk.died(); }, 1ms);
    us.crash();
    process = std::make_unique<StoreProcess>(sim, us, disk);
    StoreModel before = model;
    const std::string seen = show(process->list().value_or(Snapshot{}));
    const bool done = seen == show(after.list(KeyRange::prefix(""), us.now()));
    EXPECT_TRUE(done || seen == show(before.list(KeyRange::prefix(""), us.now()))) << seen;
    model = done ? after : before;
  }
  process->compare(model, KeyRange::prefix(""), 2);
}

class StoreTest : public ::testing::Test {
 protected:
  World world{1};
  SimRuntime& us = world.host("us");
  SimRuntime& other = world.process("other", "us");
  SimDisk disk;
  StoreProcess ours{world, us, disk};
  StoreProcess theirs{world, other, disk};
};

TEST_F(StoreTest, ALapsedLeaseIsNeverSeenAndItsSuccessorHasALaterRevision) {
  const auto lease = ours.grant(10s);
  ASSERT_TRUE(lease);
  const auto first = ours.put_if({{Compare::absent("leader")}, {Put{"leader", "us", lease->id}}});
  ASSERT_TRUE(first->held);
  world.run_for(9s);
  EXPECT_FALSE(theirs.put_if({{Compare::absent("leader")}, {Put{"leader", "they"}}})->held);
  EXPECT_TRUE(theirs.get("leader"));
  world.run_for(1s);
  EXPECT_FALSE(theirs.get("leader"));
  const auto second = theirs.put_if({{Compare::absent("leader")}, {Put{"leader", "they"}}});
  ASSERT_TRUE(second->held);
  EXPECT_GT(second->revision, first->revision);
  // What the former leader still writes carries the revision of his term.
  const Transaction late{{Compare::created_at("leader", first->revision)}, {Put{"x", "late"}}};
  EXPECT_FALSE(ours.put_if(late)->held);
  EXPECT_EQ(ours.keep_alive(lease->id).error().code, Errc::kMissing);
}

TEST_F(StoreTest, WhatMustBeThereIsAskedOfThatKey) {
  ASSERT_TRUE(ours.put("a", "x"));
  EXPECT_FALSE(theirs.put_if({{Compare::present("b")}, {Put{"b", "y"}}})->held);
  EXPECT_TRUE(theirs.put_if({{Compare::present("a")}, {Put{"a", "y"}}})->held);
}

TEST_F(StoreTest, NoLeaseOutlivesTheStartOfTheHost) {
  const auto lease = ours.grant(1h);
  ASSERT_TRUE(ours.put("a", "x", lease->id));
  StoreProcess next(world, us, disk, "boot 2");
  EXPECT_FALSE(next.get("a"));
  EXPECT_EQ(next.keep_alive(lease->id).error().code, Errc::kMissing);
}

TEST_F(StoreTest, AWatchHearsOfALapseThoughNobodyTouchesTheStore) {
  const auto lease = theirs.grant(5s);
  const auto put = theirs.put("a", "x", lease->id);
  auto wait = [](Store* store, SimRuntime* on, Revision from) -> Task<Result<WatchBatch>> {
    KeyRange keys = KeyRange::one("a");
    const std::unique_ptr<Watch> watch = store->watch(std::move(keys), from);
    Result<WatchBatch> batch = co_await watch->next(on->deadline_in(1min));
    co_return batch;
  };
  const TimePoint began = world.now();
  const auto batch = run_task(world, us, wait(&ours.store(), &us, put->revision + 1));
  ASSERT_TRUE(batch) << batch.error().describe();
  ASSERT_EQ(batch->events.size(), 1U);
  EXPECT_TRUE(batch->events.front().removed);
  EXPECT_GE(world.now() - began, 5s);
  EXPECT_LE(world.now() - began, 5s + kLimits.look_every);
}

/// The store was set back since somebody learnt that revision.
TEST_F(StoreTest, AWatchFromARevisionThatIsYetToComeIsAGap) {
  const auto put = ours.put("a", "x");
  ASSERT_TRUE(put);
  const auto early = ours.events(KeyRange::one("a"), put->revision + 2);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::kMissing);
  EXPECT_NE(early.error().describe().find("is not there yet"), std::string::npos);
}

TEST_F(StoreTest, AFullDiskChangesNothingAndIsSaid) {
  ASSERT_TRUE(ours.put("a", "x"));
  disk.fail_with(Errc::kExhausted);
  EXPECT_EQ(ours.put("a", "y").error().code, Errc::kExhausted);
  disk.fail_with({});
  EXPECT_EQ(ours.get("a")->value, "x");
  EXPECT_TRUE(theirs.put("a", "z"));
  EXPECT_EQ(ours.get("a")->version, 2);
}

/// As where the disk was full when the agent began.
TEST(Store, OneThatCouldNotBeOpenedIsOpenedWhenItIsNeeded) {
  for (const bool writes : {true, false}) {
    World world{1};
    SimRuntime& us = world.host("us");
    SimDisk disk;
    SimDatabase database(us, disk);
    EmbeddedStore store(us, database, "boot");
    disk.fail_with(Errc::kExhausted);
    EXPECT_FALSE(run_task(world, us, store.open()));
    const auto failure = [&]() -> std::optional<Errc> {
      Transaction one;
      one.changes.emplace_back(Put{"a", "x"});
      if (writes) {
        const auto put = run_task(world, us, store.put_if(std::move(one), us.deadline_in(1s)));
        return put ? std::nullopt : std::optional(put.error().code);
      }
      const auto got = run_task(world, us, store.get("a", us.deadline_in(1s)));
      return got ? std::nullopt : std::optional(got.error().code);
    };
    EXPECT_EQ(failure(), Errc::kExhausted) << writes;
    disk.fail_with({});
    EXPECT_EQ(failure(), std::nullopt) << writes;
  }
}

TEST_F(StoreTest, ADatabaseOfAnotherIsSaidNotBelieved) {
  disk.rows("DROP TABLE store_meta");
  disk.rows("CREATE TABLE store_meta (one, revision, compacted, held, last_lease)");
  for (const char* row : {"(1, 'x', 0, 0, 0)", "(1, 1, 'x', 0, 0)"}) {
    disk.rows("DELETE FROM store_meta");
    disk.rows(fmt::format("INSERT INTO store_meta VALUES {}", row));
    const auto seen = ours.events(KeyRange::prefix(""), 1);
    ASSERT_FALSE(seen) << row;
    EXPECT_EQ(seen.error().code, Errc::kProtocol) << row;
  }
  disk.rows("DELETE FROM store_meta");
  EXPECT_EQ(ours.list().error().code, Errc::kProtocol);
  EXPECT_EQ(ours.put("a", "x").error().code, Errc::kProtocol);
}

TEST_F(StoreTest, WhatMakesNoSenseIsInvalid) {
  const Transaction bad[] = {
      {{}, {Put{"", "x"}}},
      {{}, {Put{"a", "x"}, Put{"a", "y"}}},
      {{}, {Put{"a", "x"}, Erase{KeyRange::prefix("")}}},
      {{{KeyRange::one("a"), Compare::Target::kVersion, Compare::Relation::kEqual, "x"}}, {}}};
  for (const Transaction& one : bad) EXPECT_EQ(ours.put_if(one).error().code, Errc::kInvalid);
  EXPECT_EQ(ours.grant(0s).error().code, Errc::kInvalid);
  EXPECT_EQ(ours.put("a", "x", 77).error().code, Errc::kRejected);
  EXPECT_EQ(ours.list()->revision, 1);
}

TEST(KeyRange, APrefixHoldsWhatBeginsWithItAndNothingElse) {
  const std::vector<std::string> prefixes = {"a", "a/", "b\xfe", "b\xff", "b\xff\xff", "\xff"};
  const std::vector<std::string> keys = {"",        "a",    "a/",         "a/1",     "a0",
                                         "b",       "c",    "b\xfe",      "b\xfe/",  "b\xff",
                                         "b\xff/x", "\xff", "b\xff\xff/", "\xff\xff"};
  for (const std::string& prefix : prefixes) {
    for (const std::string& key : keys) {
      EXPECT_EQ(KeyRange::prefix(prefix).holds(key), key.starts_with(prefix)) << prefix << key;
    }
  }
}

TEST_F(StoreTest, AKeyMayHoldAnyByte) {
  const std::string odd("a\0'\"\xff%_", 7);
  ASSERT_TRUE(ours.put(odd, std::string("\0\xfe", 2)));
  ASSERT_TRUE(ours.put("a", "x"));
  EXPECT_EQ(ours.get(odd)->value, std::string("\0\xfe", 2));
  EXPECT_EQ(ours.list(KeyRange::one("a"))->keys.size(), 1U);
  EXPECT_EQ(ours.list(KeyRange::prefix(std::string("a\0", 2)))->keys.size(), 1U);
}

/// What the version before the store left, killed at any write while it is carried over.
TEST(Adoption, RecordsOfAnEarlierVersionAreAllThereHoweverOftenItDies) {
  bool done = false;
  for (std::uint64_t write = 1; !done; ++write) {
    World world(1);
    SimRuntime& us = world.host("us");
    SimDisk disk;
    const auto adopt = [](SimRuntime* on, SimDisk* from) -> Task<Result<std::size_t>> {
      SimDatabase database(*on, *from);
      EmbeddedStore store(*on, database, "boot");
      const Result<void> opened = co_await store.open();
      if (!opened) co_return std::unexpected(opened.error());
      std::vector<std::string> prefixes = {"incident/", "notify/group/"};
      const auto adopted = co_await adopt_records(on, &database, std::move(prefixes));
      co_return adopted;
    };
    {
      SimDatabase database(us, disk);
      Records records(us, database);
      ASSERT_TRUE(run_task(world, us, records.open()));
      ASSERT_TRUE(run_task(world, us,
                           records.commit({{"incident/1", "a"},
                                           {"incident/2", "b"},
                                           {"notify/group/x{y=z}", "c"},
                                           {"plan/1", "d"}})));
    }
    auto life = [](auto adopting, SimRuntime* on, SimDisk* from) -> Task<void> {
      (void)co_await adopting(on, from);
    };
    disk.die_before(write);
    us.spawn("adopt", life(adopt, &us, &disk));
    world.run_for(1s);
    done = !disk.died();
    us.crash();
    disk.restart();
    const auto adopted = run_task(world, us, adopt(&us, &disk));
    ASSERT_TRUE(adopted) << adopted.error().describe();
    StoreProcess process(world, us, disk);
    const auto keys = process.list()->keys;
    ASSERT_EQ(keys.size(), 3U) << "death at write " << write;
    EXPECT_EQ(keys[0].value + keys[1].value + keys[2].value, "abc");
    EXPECT_EQ(disk.rows("SELECT key FROM record").size(), 1U);
  }
}

}  // namespace
}  // namespace wardmote::store
