#include "act/act_log.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "judge/journal_entry.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/embedded_store.h"
#include "store/journal.h"
#include "store/store.h"
#include "unit/act/fake_leadership.h"

namespace wardmote::act {
namespace {

using judge::JournalEntry;
using Kinds = std::vector<std::string>;

JournalEntry entry(std::string kind) {
  return {.kind = std::move(kind), .plan = 3, .actor = "ann"};
}

/// The store lies on another disk than the journal, as one does that agents share.
class ActLogTest : public ::testing::Test {
 protected:
  ActLogTest() {
    EXPECT_TRUE(run_task(world_, us_, store_.open()));
    EXPECT_TRUE(run_task(world_, us_, log_.open()));
  }

  ActLog::Appended append(std::string kind, std::optional<std::string> state) {
    return run_task(world_, us_, log_.append(entry(std::move(kind)), {{"plan/3", state}}));
  }
  Result<void> owe(std::string kind, std::optional<std::string> state) {
    return run_task(world_, us_, log_.append_or_owe(entry(std::move(kind)), {{"plan/3", state}}));
  }
  std::string state() {
    const auto found = shared_.rows("SELECT value FROM store_kv WHERE key = 'plan/3'");
    return found.empty() ? "" : *found.front().text(0);
  }
  Kinds kinds() {
    Kinds found;
    for (const auto& row : own_.rows("SELECT kind FROM journal ORDER BY seq"))
      found.push_back(*row.text(0));
    return found;
  }
  /// The fence of who takes the lead now.
  store::Compare take_lead() {
    store::Transaction taken;
    taken.changes.emplace_back(store::Put{"leader", "x"});
    const auto done =
        run_task(world_, us_, store_.put_if(taken, us_.deadline_in(std::chrono::hours(1))));
    EXPECT_TRUE(done);
    return store::Compare::unchanged_since("leader", done->revision);
  }

  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  sim::SimDisk own_;
  sim::SimDisk shared_;
  sim::SimDatabase database_{us_, own_};
  sim::SimDatabase shared_database_{us_, shared_};
  store::EmbeddedStore store_{us_, shared_database_, "boot"};
  FakeLeadership leadership_;
  ActLog log_{us_, &database_, &store_, leadership_};
};

TEST_F(ActLogTest, KeepsRowsInOrderAndTheStateThatGoesWithThem) {
  EXPECT_TRUE(append("intent", "x").done);
  EXPECT_TRUE(append("result", "y").done);
  EXPECT_EQ(kinds(), (Kinds{"intent", "result"}));
  EXPECT_EQ(state(), "y");
  const auto loaded = run_task(world_, us_, log_.load("plan/"));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->at("plan/3"), "y");
  EXPECT_TRUE(append("forgotten", std::nullopt).done);
  EXPECT_EQ(state(), "");
}

TEST_F(ActLogTest, WhatIsOwedIsWrittenBeforeAnythingElse) {
  own_.fail_with(Errc::kExhausted);
  EXPECT_FALSE(owe("proposed", "1"));
  EXPECT_FALSE(owe("approved", "2"));
  EXPECT_FALSE(run_task(world_, us_, log_.write_owed()));
  EXPECT_FALSE(append("intent", "lost").done) << "who is told so does nothing, and owes nothing";
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(state(), "1") << "its row is owed, and nothing comes before that";
  own_.fail_with(std::nullopt);
  EXPECT_TRUE(append("result", "3").done);
  EXPECT_EQ(kinds(), (Kinds{"proposed", "approved", "result"}));
  EXPECT_EQ(state(), "3");
  EXPECT_TRUE(run_task(world_, us_, log_.write_owed())) << "nothing is owed any more";
  EXPECT_EQ(kinds().size(), 3U);
}

TEST_F(ActLogTest, ARowWhoseStateTheStoreRefusedIsOwedWithIt) {
  EXPECT_TRUE(append("proposed", "1").done);
  shared_.fail_with(Errc::kTimeout);
  EXPECT_FALSE(owe("approved", "2"));
  const ActLog::Appended intent = append("intent", "3");
  EXPECT_FALSE(intent.done);
  EXPECT_FALSE(intent.in_store) << "what is owed comes first";
  EXPECT_EQ(kinds(), Kinds{"proposed"});
  EXPECT_EQ(state(), "1");
  shared_.fail_with(std::nullopt);
  EXPECT_TRUE(run_task(world_, us_, log_.write_owed()));
  EXPECT_EQ(kinds(), (Kinds{"proposed", "approved"}));
  EXPECT_EQ(state(), "2");
}

TEST_F(ActLogTest, WhatMustNotBeLostIsOwedWhereThereIsNoRoom) {
  own_.fail_with(Errc::kExhausted);
  for (std::size_t i = 0; i <= ActLog::kMostOwed; ++i) EXPECT_FALSE(owe("proposed", "1"));
  JournalEntry result = entry("result");
  EXPECT_FALSE(run_task(world_, us_, log_.append_surely(result, {{"plan/3", "2"}})));
  own_.fail_with(std::nullopt);
  EXPECT_TRUE(run_task(world_, us_, log_.write_owed()));
  EXPECT_EQ(kinds().size(), ActLog::kMostOwed + 1);
  EXPECT_EQ(kinds().back(), "result");
  EXPECT_EQ(state(), "2");
}

TEST_F(ActLogTest, AnAgentThatWasSupersededWritesAndOwesNothing) {
  own_.fail_with(Errc::kExhausted);
  EXPECT_FALSE(owe("proposed", "1"));
  own_.fail_with(std::nullopt);
  store::Journal later(us_, &database_);
  ASSERT_TRUE(run_task(world_, us_, later.open()));
  EXPECT_FALSE(log_.superseded()) << "it does not know";
  EXPECT_EQ(run_task(world_, us_, log_.write_owed()).error().code, Errc::kRejected);
  EXPECT_TRUE(log_.superseded());
  EXPECT_EQ(append("intent", "2").done.error().code, Errc::kRejected);
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ActLogTest, UnderALostFenceNoStateIsWritten) {
  leadership_.set_fence(take_lead());
  EXPECT_TRUE(append("proposed", "1").done);
  const store::Compare others = take_lead();
  const ActLog::Appended late = append("intent", "2");
  EXPECT_EQ(late.done.error().code, Errc::kRejected);
  EXPECT_FALSE(late.in_store);
  EXPECT_EQ(kinds(), Kinds{"proposed"});
  EXPECT_FALSE(log_.superseded()) << "it may lead again";
  EXPECT_EQ(state(), "1");
  leadership_.set_fence(others);
  EXPECT_TRUE(append("intent", "3").done);
  EXPECT_EQ(state(), "3");
}

TEST_F(ActLogTest, WhatWasOrderedWhenTheLeadWasLostLapsesAndIsNoState) {
  EXPECT_TRUE(append("proposed", "1").done);
  shared_.fail_with(Errc::kTimeout);
  EXPECT_FALSE(owe("approved", "2"));
  shared_.fail_with(std::nullopt);
  log_.forget_states();
  EXPECT_TRUE(run_task(world_, us_, log_.write_owed()));
  EXPECT_EQ(kinds(), (Kinds{"proposed", "lapsed"}));
  EXPECT_TRUE(log_.journal().recent().back().detail.starts_with("'approved' may not hold"));
  EXPECT_EQ(state(), "1");
}

TEST_F(ActLogTest, WhatWasDoneWhenTheLeadWasLostIsHistoryAndNoState) {
  EXPECT_TRUE(append("proposed", "1").done);
  shared_.fail_with(Errc::kTimeout);
  EXPECT_FALSE(run_task(world_, us_, log_.append_surely(entry("result"), {{"plan/3", "2"}})));
  shared_.fail_with(std::nullopt);
  log_.forget_states();
  EXPECT_TRUE(run_task(world_, us_, log_.write_owed()));
  EXPECT_EQ(kinds(), (Kinds{"proposed", "result"}));
  EXPECT_EQ(state(), "1");
}

/// It is lost and won again while a slow store is written to; others may have written in between.
TEST_F(ActLogTest, WhatWaitedWhenTheLeadWasLostLapsesAndIsNoState) {
  EXPECT_TRUE(append("proposed", "1").done);
  shared_.set_latency(std::chrono::seconds(5));
  std::optional<Result<void>> first;
  std::optional<Result<void>> second;
  std::optional<ActLog::Appended> intent;
  std::optional<ActLog::Appended> row;
  runtime::TaskGroup tasks(us_.executor());
  const auto begin = [&tasks](auto& into, auto task) {
    constexpr auto keep = [](auto inner, auto* to) -> runtime::Task<void> {
      auto value = co_await std::move(inner);
      to->emplace(std::move(value));
    };
    tasks.spawn("write", keep(std::move(task), &into));
  };
  begin(first, log_.append_or_owe(entry("approved"), {{"plan/3", "2"}}));
  begin(second, log_.append_or_owe(entry("paused"), {{"plan/3", "3"}}));
  begin(intent, log_.append(entry("intent"), {{"plan/3", "4"}}));
  begin(row, log_.append(entry("order"), {}));
  shared_.fail_with(Errc::kTimeout);
  world_.run_for(std::chrono::seconds(1));
  log_.forget_states();
  world_.run_for(std::chrono::seconds(6));
  shared_.fail_with(std::nullopt);
  world_.run_for(std::chrono::seconds(30));
  ASSERT_TRUE(first && second && intent && row);
  EXPECT_FALSE(*first) << "nobody knows whether the store took it";
  EXPECT_EQ(second->error().code, Errc::kRejected) << "nobody who leads will find the order";
  EXPECT_EQ(intent->done.error().code, Errc::kRejected);
  EXPECT_TRUE(row->done) << "a row without a state is nobody's lead";
  EXPECT_EQ(kinds(), (Kinds{"proposed", "lapsed", "lapsed", "order"}));
  EXPECT_EQ(state(), "1");
}

// An agent that dies between the store and the journal.
TEST_F(ActLogTest, ALaterLifeJournalsTheRowThatIsMissingAndNoneTwice) {
  EXPECT_TRUE(append("proposed", "1").done);
  own_.fail_with(Errc::kExhausted);
  const ActLog::Appended approved = append("approved", "2");
  EXPECT_FALSE(approved.done);
  EXPECT_TRUE(approved.in_store);
  own_.fail_with(std::nullopt);
  EXPECT_EQ(kinds(), Kinds{"proposed"});
  for (int life = 0; life < 3; ++life) {
    ActLog next(us_, &database_, &store_, leadership_);
    ASSERT_TRUE(run_task(world_, us_, next.open()));
    EXPECT_EQ(kinds(), (Kinds{"proposed", "approved"})) << life;
  }
}

TEST_F(ActLogTest, ALaterLifeJournalsTheRowAlsoAfterOneThatDiedFirst) {
  own_.fail_with(Errc::kExhausted);
  EXPECT_TRUE(append("approved", "1").in_store);
  own_.fail_with(std::nullopt);
  {
    store::Journal died_after_it_took_the_token(us_, &database_);
    ASSERT_TRUE(run_task(world_, us_, died_after_it_took_the_token.open()));
  }
  ActLog next(us_, &database_, &store_, leadership_);
  ASSERT_TRUE(run_task(world_, us_, next.open()));
  EXPECT_EQ(kinds(), Kinds{"approved"});
}

TEST_F(ActLogTest, ALaterLifeJournalsTheRowAlsoWhenAnotherAgentHasLedInBetween) {
  own_.fail_with(Errc::kExhausted);
  EXPECT_TRUE(append("approved", "1").in_store);
  own_.fail_with(std::nullopt);
  sim::SimDisk others;
  sim::SimDatabase others_database(us_, others);
  {
    ActLog other(us_, &others_database, &store_, leadership_);
    ASSERT_TRUE(run_task(world_, us_, other.open()));
    EXPECT_TRUE(run_task(world_, us_, other.append({.kind = "intent"}, {{"plan/1", "2"}})).done);
  }
  ActLog next(us_, &database_, &store_, leadership_);
  ASSERT_TRUE(run_task(world_, us_, next.open()));
  EXPECT_EQ(kinds(), Kinds{"approved"});
}

TEST_F(ActLogTest, AnotherAgentsRowIsNotJournaledHere) {
  EXPECT_TRUE(append("proposed", "1").done);
  sim::SimDisk others;
  sim::SimDatabase others_database(us_, others);
  ActLog next(us_, &others_database, &store_, leadership_);
  ASSERT_TRUE(run_task(world_, us_, next.open()));
  EXPECT_TRUE(others.rows("SELECT 1 FROM journal").empty());
}

/// Whoever led has paused everything for what the store lacks; it is not lost once more.
TEST_F(ActLogTest, WhatIsLostIsLookedForUntilEverythingWasPausedForIt) {
  const auto lacks = [this] { return run_task(world_, us_, log_.store_lacks_orders()).value(); };
  EXPECT_TRUE(append("paused", "1").done);
  EXPECT_FALSE(lacks());
  store::Transaction emptied;
  emptied.changes.emplace_back(store::Erase{store::KeyRange::prefix("")});
  ASSERT_TRUE(
      run_task(world_, us_, store_.put_if(emptied, us_.deadline_in(std::chrono::minutes(1)))));
  EXPECT_TRUE(lacks());
  ASSERT_TRUE(run_task(world_, us_, log_.append_surely({.kind = "doubted"}, {})));
  EXPECT_FALSE(lacks());
  EXPECT_TRUE(append("paused", "2").done);
  EXPECT_FALSE(lacks());
  ASSERT_TRUE(
      run_task(world_, us_, store_.put_if(emptied, us_.deadline_in(std::chrono::minutes(1)))));
  EXPECT_TRUE(lacks()) << "what was ordered since";
}

}  // namespace
}  // namespace wardmote::act
