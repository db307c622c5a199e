// What is written down together, when it is tried again, and who waits for it.

#include "incidents/record_writer.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/store.h"
#include "support/logged.h"
#include "unit/act/fake_leadership.h"
#include "unit/agent/fragile_store.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;

class RecordWriterTest : public ::testing::Test {
 protected:
  RecordWriterTest() {
    EXPECT_TRUE(run_task(world, us, below.open()));
    store.written.clear();
  }
  ~RecordWriterTest() override {
    store.unwritable.reset();
    store.writing = {};
    world.run(us, records.stop());
  }
  /// What is stored under this key; nothing: no record.
  std::optional<std::string> stored(const std::string& key) {
    const auto rows = disk.rows("SELECT value FROM store_kv WHERE key = '" + key + "'");
    return rows.empty() ? std::nullopt : std::optional(*rows[0].text(0));
  }
  /// Without the writer's own change, which is in each of them.
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all;
    for (const store::Transaction& one : store.written) all.push_back(one.changes.size() - 1);
    return all;
  }
  /// How many seconds after the first attempt each of them was.
  [[nodiscard]] std::vector<std::int64_t> attempts() const {
    std::vector<std::int64_t> all;
    for (const TimePoint at : store.tried) all.push_back((at - store.tried.front()) / 1s);
    return all;
  }
  /// Another agent takes the lead; what this one writes under its fence is refused.
  store::Compare take_lead() {
    store::Transaction taken;
    taken.changes.emplace_back(store::Put{"leader", "x"});
    const auto done = run_task(world, us, below.put_if(taken, us.deadline_in(1h)));
    EXPECT_TRUE(done);
    return store::Compare::unchanged_since("leader", done->revision);
  }

  testing::Logged logged;
  sim::World world{1};
  sim::SimRuntime& us = world.host("us");
  sim::SimDisk disk;
  sim::SimDatabase database{us, disk};
  store::EmbeddedStore below{us, database, "boot"};
  FragileStore store{us, below};
  act::FakeLeadership leadership;
  incidents::RecordWriter records{us, &store, leadership};
};

TEST_F(RecordWriterTest, WhatIsPutInOneTurnIsOneTransaction) {
  records.put("a", "1");
  records.put("b", "2");
  world.run_for(1s);
  EXPECT_EQ(sizes(), std::vector<std::size_t>{2});
  records.put("a", std::nullopt);
  records.put("b", "3");
  records.put("b", "4");
  world.run_for(1s);
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(stored("a"), std::nullopt);
  EXPECT_EQ(stored("b"), "4");
  const auto all = run_task(world, us, records.load("b"));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (std::map<std::string, std::string>{{"b", "4"}}));
}

TEST_F(RecordWriterTest, NoTransactionIsLargerThanTheStoreTakes) {
  const auto put_five = [&] {
    store.written.clear();
    for (const char* const key : {"a", "b", "c", "d", "e"}) records.put(key, "text");
    world.run_for(1s);
    return sizes();
  };
  using Sizes = std::vector<std::size_t>;
  store.most = {.changes = 3};
  EXPECT_EQ(put_five(), (Sizes{2, 2, 1}));
  // Key and value have five bytes together.
  store.most = {.bytes = 10};
  EXPECT_EQ(put_five(), (Sizes{2, 2, 1}));
  store.most = {.bytes = 11};
  EXPECT_EQ(put_five(), (Sizes{3, 2}));
}

TEST_F(RecordWriterTest, WhatCannotBeWrittenIsTriedAgainMoreAndMoreSeldomAndSaidOnce) {
  store.unwritable = Errc::kExhausted;
  records.put("a", "1");
  world.run_for(4min);
  EXPECT_EQ(attempts(), (std::vector<std::int64_t>{0, 1, 3, 7, 15, 31, 63, 123, 183}));
  EXPECT_TRUE(records.complaint());
  EXPECT_EQ(logged.count("records_not_written"), 1);
  EXPECT_EQ(logged.levels("records_not_written").front(), LogLevel::kError);
  store.unwritable.reset();
  world.run_for(1min);
  EXPECT_FALSE(records.complaint());
  EXPECT_EQ(stored("a"), "1");
  // It begins anew.
  store.unwritable = Errc::kExhausted;
  store.tried.clear();
  records.put("a", "2");
  world.run_for(5s);
  EXPECT_EQ(attempts(), (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(logged.count("records_not_written"), 2);
}

// After each attempt it rests for a second, then for two, and so on.

TEST_F(RecordWriterTest, ADiskThatHangsIsGivenUpAfterTenSeconds) {
  store.writing = 1h;
  records.put("a", "1");
  world.run_for(40s);
  EXPECT_EQ(attempts(), (std::vector<std::int64_t>{0, 11, 23, 37}));
}

TEST_F(RecordWriterTest, ASharedStoreThatHangsIsGivenUpAfterHalfAMinute) {
  records.wait_for_store();
  store.writing = 1h;
  records.put("a", "1");
  world.run_for(40s);
  EXPECT_EQ(attempts(), (std::vector<std::int64_t>{0, 31}));
}

TEST_F(RecordWriterTest, WhoBeginsToWaitDuringAPauseHastensTheNextAttemptAndNoMore) {
  store.unwritable = Errc::kExhausted;
  records.put("a", "1");
  world.run_for(70s);  // the next pause ends at 123 s
  const std::size_t before = store.tried.size();
  int called = 0;
  records.after_writing([&] { ++called; });
  world.run_for(1s);
  EXPECT_EQ(called, 1) << "to tell people comes before writing it down";
  EXPECT_EQ(store.tried.size(), before + 1);
  world.run_for(10s);
  EXPECT_EQ(store.tried.size(), before + 1);
}

TEST_F(RecordWriterTest, WhoWaitsForNothingIsCalledSoon) {
  int called = 0;
  records.after_writing([&] { ++called; });
  EXPECT_EQ(called, 0);
  world.run_for(1s);
  EXPECT_EQ(called, 1);
}

TEST_F(RecordWriterTest, WhatIsPutWhileAnOlderValueIsWrittenWins) {
  store.writing = 300ms;
  store.unwritable = Errc::kExhausted;
  records.put("a", "old");
  records.put("b", "kept");
  world.run_for(100ms);
  ASSERT_EQ(store.tried.size(), 1U);
  records.put("a", "new");
  world.run_for(300ms);
  store.unwritable.reset();
  world.run_for(1min);
  EXPECT_EQ(stored("a"), "new");
  EXPECT_EQ(stored("b"), "kept") << "an attempt that failed loses nothing";
}

TEST_F(RecordWriterTest, AnEndDuringAWriteLosesNothing) {
  store.writing = 300ms;
  records.put("a", "1");
  world.run_for(100ms);
  world.run(us, records.stop());
  EXPECT_EQ(stored("a"), "1");
  EXPECT_EQ(logged.count("records_not_written"), 0);
}

TEST_F(RecordWriterTest, AnEndOnAFullDiskSaysWhatIsLost) {
  store.unwritable = Errc::kExhausted;
  records.put("a", "1");
  world.run(us, records.stop());
  EXPECT_EQ(logged.count("records_not_written reason="), 1);
}

TEST_F(RecordWriterTest, WhoDoesNotLeadWritesNothing) {
  leadership.lose();
  records.put("a", "1");
  leadership.win();
  records.hold_back(true);
  records.put("b", "1");
  EXPECT_FALSE(records.leads());
  records.hold_back(false);
  EXPECT_TRUE(records.leads());
  records.put("c", "1");
  world.run_for(1s);
  EXPECT_EQ(sizes(), std::vector<std::size_t>{1});
  EXPECT_EQ(stored("c"), "1");
}

TEST_F(RecordWriterTest, WhatWasPutBeforeTheLeadWasLostIsNotWrittenUnderTheNext) {
  store.unwritable = Errc::kClosed;
  int called = 0;
  records.put("a", "old");
  records.after_writing([&] { ++called; });
  store.writing = 300ms;
  world.run_for(100ms);  // the attempt is under way
  leadership.lose();
  records.drop();
  world.run_for(1s);
  leadership.win();
  store.unwritable.reset();
  world.run_for(3min);
  EXPECT_EQ(stored("a"), std::nullopt) << "another may have written it meanwhile";
  EXPECT_EQ(called, 0);
}

TEST_F(RecordWriterTest, ALostFenceIsKnownByTheFirstWriteAndUntilTheNextLead) {
  leadership.set_fence(take_lead());
  records.put("a", "1");
  world.run_for(1s);
  EXPECT_TRUE(records.leads());
  EXPECT_EQ(store.written.back().conditions.size(), 2U) << "the fence, and what was before it";
  store::Compare newer = take_lead();
  records.put("a", "2");
  world.run_for(1s);
  EXPECT_FALSE(records.leads());
  EXPECT_EQ(stored("a"), "1");
  EXPECT_TRUE(records.complaint()->contains("another agent leads")) << *records.complaint();
  leadership.set_fence(newer);
  records.drop();
  EXPECT_TRUE(records.leads());
  records.put("a", "3");
  world.run_for(1min);
  EXPECT_EQ(stored("a"), "3");
}

TEST_F(RecordWriterTest, TheAnswerToAWriteOfAnEarlierLeadSaysNothingOfThisOne) {
  leadership.set_fence(take_lead());
  store::Compare newer = take_lead();
  store.writing = 300ms;
  records.put("a", "1");
  world.run_for(100ms);  // it is under way, and will be refused
  records.drop();
  leadership.set_fence(newer);
  world.run_for(1s);
  EXPECT_TRUE(records.leads());
}

// As long as it is not known whether the shared store took it, another may lead and tell the same.
TEST_F(RecordWriterTest, OfASharedStoreItIsWaitedForUntilItAnswers) {
  records.wait_for_store();
  std::vector<int> called;
  store.unwritable = Errc::kClosed;
  records.put("a", "1");
  records.after_writing([&] { called.push_back(1); });
  world.run_for(2s);
  records.after_writing([&] { called.push_back(2); });
  world.run_for(10min);
  EXPECT_EQ(called, std::vector<int>{});
  store.unwritable = Errc::kExhausted;
  world.run_for(1min);
  EXPECT_EQ(called, (std::vector<int>{1, 2})) << "it answers, and takes no more";
  store.unwritable = Errc::kClosed;
  records.after_writing([&] { called.push_back(3); });
  world.run_for(1min);
  store.unwritable.reset();
  world.run_for(2min);
  EXPECT_EQ(called, (std::vector<int>{1, 2, 3}));
}

TEST_F(RecordWriterTest, AnAnswerIsHeldForOneAttemptAlsoOfASharedStore) {
  records.wait_for_store();
  store.unwritable = Errc::kClosed;
  records.put("a", "1");
  EXPECT_TRUE(run_task(world, us, records.hold()->wait())) << "503";
}

// The store may take it all the same.
TEST_F(RecordWriterTest, AnOrderThatWasBeingWrittenWhenTheLeadWasLostMayHold) {
  store.writing = 5s;
  records.put("silence/1", "ann");
  const auto hold = records.hold();
  world.run_for(1s);
  records.drop();
  const auto answer = run_task(world, us, hold->wait());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_TRUE(answer->body.contains("nobody knows whether the order holds")) << answer->body;
  EXPECT_EQ(stored("silence/1"), "ann");
}

TEST_F(RecordWriterTest, AnOrderThatWasDroppedWithTheLeadIsSaidToBeLost) {
  store.writing = 5s;
  records.put("earlier", "1");
  world.run_for(1s);
  records.put("incident/1", "acknowledged");
  const auto hold = records.hold();
  records.drop();
  const auto answer = run_task(world, us, hold->wait());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_TRUE(answer->body.contains("the order is lost")) << answer->body;
  EXPECT_EQ(stored("incident/1"), std::nullopt);
}

TEST_F(RecordWriterTest, WithoutAStoreNothingIsReadOrWritten) {
  incidents::RecordWriter none(us, nullptr, leadership);
  none.put("a", "1");
  EXPECT_EQ(none.hold(), nullptr);
  const auto all = run_task(world, us, none.load(""));
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
  int called = 0;
  none.after_writing([&] { ++called; });
  world.run_for(1s);
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(none.complaint());
  world.run(us, none.stop());
}

TEST_F(RecordWriterTest, AStoreThatCannotBeReadSaysWhy) {
  store.unreadable = [](const std::string&) { return std::optional(Errc::kClosed); };
  EXPECT_EQ(run_task(world, us, records.load("a")).error().code, Errc::kClosed);
}

}  // namespace
}  // namespace wardmote::agent
