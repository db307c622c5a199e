#include "store/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "support/logged.h"
#include "unit/store/life.h"

namespace wardmote::store {
namespace {

using sim::SimDisk;
using sim::SimRuntime;
using namespace std::chrono_literals;

Event event(std::string subject, std::string kind = "check_changed") {
  Event made;
  made.kind = std::move(kind);
  made.subject = std::move(subject);
  made.data = "{}";
  return made;
}

/// One life of an agent that keeps a history.
struct Life : LifeOf<History, HistoryLimits> {
  using LifeOf::LifeOf;
  History& history = keeper;
};

class HistoryTest : public LivesTest {};

/// A fake: a disk that has no room to remove anything, and tables that are there already.
class FakeNoRoomToRemove final : public runtime::Database {
 public:
  explicit FakeNoRoomToRemove(runtime::Database& below) : below_(below) {}
  Errc why = Errc::kExhausted;

  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement statement,
                                                           runtime::Deadline deadline) override {
    auto rows = co_await below_.read(std::move(statement), deadline);
    co_return rows;
  }
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(
      std::vector<runtime::SqlStatement> statements, runtime::Deadline deadline) override {
    const bool removes = std::ranges::any_of(
        statements, [](const auto& statement) { return statement.text.starts_with("DELETE"); });
    if (removes) co_return fail(why, "no");
    auto rows = co_await below_.transact(std::move(statements), deadline);
    co_return rows;
  }

 private:
  runtime::Database& below_;
};

TEST_F(HistoryTest, WithoutADatabaseItRemembersTheNewest) {
  History history(us, nullptr, {.in_memory = 3});
  for (const char* name : {"a", "b", "c", "d"}) history.add(event(name));
  const auto found = history.find({});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().subject, "b");
  EXPECT_EQ(found.back().subject, "d");
  EXPECT_FALSE(history.reaches(WallTime()));
  // Asked for everything there ever was.
  History::Search search(history, {});
  while (search.look_on()) {
  }
  EXPECT_EQ(search.size(), 3U);
  EXPECT_FALSE(search.complete());
}

TEST_F(HistoryTest, WhoReadsAllThatItRemembersMayNotReachBackToTheBeginning) {
  for (const int kept : {2, 3}) {
    SimDisk empty;
    {
      Life before(world, us, empty, {.in_memory = 3});
      for (int i = 0; i < kept; ++i) before.history.add(event("a"));
      world.run_for(5s);
      EXPECT_TRUE(before.history.reaches(WallTime()));
    }
    const Life after(world, us, empty, {.in_memory = 3});
    EXPECT_EQ(after.history.reaches(WallTime()), kept < 3) << kept;
  }
}

TEST_F(HistoryTest, ALongSearchTakesManyLooksAndShowsOneMoment) {
  History history(us, nullptr, {.in_memory = 2000});
  for (int i = 0; i < 2000; ++i) history.add(event(i % 2 == 0 ? "even" : "odd"));
  History::Search search(history, {.subject = "odd", .most = 700});
  int looks = 1;
  while (search.look_on()) {
    ++looks;
    history.add(event("odd"));  // the oldest goes, too
  }
  EXPECT_GE(looks, 7) << "1,400 of them are looked at";
  ASSERT_EQ(search.size(), 700U);
  EXPECT_EQ(search.event(699).id, 2000) << "none that came since";
  EXPECT_EQ(search.event(0).id, 602);
  EXPECT_FALSE(search.complete());
  EXPECT_EQ(search.event(698).subject, "odd");
}

TEST_F(HistoryTest, WhatOneLifeSawTheNextRemembers) {
  {
    Life life(world, us, disk);
    life.history.add(event("nb"));
    world.run_for(1s);
    EXPECT_EQ(life.history.unwritten(), 0U);
  }
  Life next(world, us, disk);
  const auto found = next.history.find({});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "nb");
  EXPECT_EQ(found[0].id, 1);
  next.history.add(event("sb"));
  EXPECT_EQ(next.history.find({}).back().id, 2);
}

TEST_F(HistoryTest, AnEventComesBackWholeInTheNextLife) {
  Event one = event("nb", "finding_raised");
  one.at = us.wall_now();
  one.scope = "cluster";
  one.names = "ctl-2 5b4b";
  one.code = "RAFT_MEMBER_DOWN";
  one.severity = "critical";
  one.incident = 7;
  {
    Life life(world, us, disk);
    life.history.add(one);
    world.run_for(1s);
  }
  Life next(world, us, disk);
  one.id = 1;
  EXPECT_EQ(next.history.find({}), std::vector{one});
}

TEST_F(HistoryTest, AskedForASubjectItKnowsAllItsNames) {
  History history(us, nullptr);
  Event one = event("nb", "finding_raised");
  one.code = "RAFT_MEMBER_DOWN";
  one.names = "ctl-2 5b4b tcp:10.0.0.2:6643";
  one.incident = 7;
  history.add(one);
  history.add(event("other"));
  EXPECT_EQ(history.find({.subject = "5b4b"}).size(), 1U);
  EXPECT_EQ(history.find({.subject = "RAFT_MEMBER_DOWN"}).size(), 1U);
  EXPECT_EQ(history.find({.subject = "5b"}).size(), 0U);
  EXPECT_EQ(history.find({.incident = 7}).size(), 1U);
  Event notice = event("ops");
  notice.names = "#7 #80";
  history.add(notice);
  EXPECT_EQ(history.find({.incident = 7}).size(), 2U) << "one is of it, one names it too";
  EXPECT_EQ(history.find({.incident = 8}).size(), 0U);
  EXPECT_EQ(history.find({.since = us.wall_now() + 1s}).size(), 0U);
  EXPECT_EQ(history.find({.most = 1}).front().subject, "ops");
}

TEST_F(HistoryTest, AFullDiskIsSaidOnceAndNothingIsLostWhenItHasRoomAgain) {
  const testing::Logged logged;
  Life life(world, us, disk);
  disk.fail_with(Errc::kExhausted);
  life.history.add(event("a"));
  world.run_for(5s);
  EXPECT_EQ(logged.count("history_not_written"), 1);
  EXPECT_GE(life.history.counters().failures, 2U);
  EXPECT_TRUE(life.history.counters().complaint);
  EXPECT_EQ(life.history.unwritten(), 1U);
  disk.fail_with(std::nullopt);
  world.run_for(60s);
  EXPECT_FALSE(life.history.counters().complaint);
  EXPECT_EQ(logged.count("history_writes_again"), 1);
  EXPECT_EQ(disk.rows("SELECT * FROM event").size(), 1U);
}

TEST_F(HistoryTest, OnAFullDiskItStartsWithWhatIsThereAndOnABrokenOneItDoesNot) {
  {
    Life life(world, us, disk);
    life.history.add(event("a"));
  }
  disk.restart();
  sim::SimDatabase database(us, disk);
  FakeNoRoomToRemove full(database);
  History history(us, &full, {});
  EXPECT_TRUE(run_task(world, us, history.open()));
  EXPECT_TRUE(history.counters().complaint);
  EXPECT_EQ(history.find({}).size(), 1U);
  world.run(us, history.stop());
  full.why = Errc::kProtocol;
  History other(us, &full, {});
  EXPECT_FALSE(run_task(world, us, other.open()));
  world.run(us, other.stop());
}

TEST_F(HistoryTest, ADiskThatStaysFullIsTriedOnceAMinute) {
  Life life(world, us, disk);
  disk.fail_with(Errc::kExhausted);
  life.history.add(event("a"));
  world.run_for(10min);
  const std::uint64_t before = life.history.counters().failures;
  world.run_for(1h);
  EXPECT_EQ(life.history.counters().failures - before, 60U);
}

TEST_F(HistoryTest, AtTheEndASlowDiskIsWaitedForASecond) {
  Life life(world, us, disk, {.unwritten = 10'000});
  disk.set_latency(300ms);
  for (int i = 0; i < 10'000; ++i) life.history.add(event("a"));
  const TimePoint begun = world.now();
  world.run(us, life.history.stop());
  EXPECT_EQ(world.now() - begun, 1200ms) << "with the last write that had begun";
}

TEST_F(HistoryTest, ADiskThatStaysFullCostsBoundedMemory) {
  Life life(world, us, disk, {.unwritten = 10});
  disk.fail_with(Errc::kExhausted);
  for (int i = 0; i < 100; ++i) life.history.add(event("a"));
  EXPECT_EQ(life.history.unwritten(), 10U);
  EXPECT_EQ(life.history.counters().dropped, 90U);
}

TEST_F(HistoryTest, TheOldGoesAndWhatIsOlderThanDaysIsThinned) {
  const HistoryLimits limits{.on_disk = 100, .age = std::chrono::days(10), .in_full = 48h};
  const auto happened = [&](Life& life, Duration ago, const char* subject, int times) {
    for (int i = 0; i < times; ++i) {
      Event old = event(subject);
      // In the middle of an hour, whatever the time is now.
      const auto hour = std::chrono::floor<std::chrono::hours>(us.wall_now() - ago);
      old.at = WallTime(hour) + std::chrono::minutes(i);
      life.history.add(std::move(old));
    }
  };
  {
    Life life(world, us, disk, limits);
    happened(life, 24h * 20, "gone", 3);
    happened(life, 24h * 5, "flapping", 30);
    happened(life, 24h * 5, "calm", 2);
    happened(life, 2h, "fresh", 30);
  }
  Life next(world, us, disk, limits);
  const auto count = [&](const char* subject) {
    return disk.rows("SELECT 1 FROM event WHERE subject = '" + std::string(subject) + "'").size();
  };
  EXPECT_EQ(count("gone"), 0U);
  EXPECT_EQ(count("flapping"), 2U);
  EXPECT_EQ(count("calm"), 2U);
  EXPECT_EQ(count("fresh"), 30U);
}

TEST_F(HistoryTest, NoMoreRowsThanTheLimitStay) {
  {
    Life life(world, us, disk, {.on_disk = 50});
    for (int i = 0; i < 200; ++i) life.history.add(event("a"));
  }
  const Life next(world, us, disk, {.on_disk = 50});
  EXPECT_EQ(disk.rows("SELECT * FROM event").size(), 50U);
}

TEST_F(HistoryTest, ALongLifeRemovesWhatIsTooMuchAsItGoes) {
  Life life(world, us, disk, {.on_disk = 50});
  for (int i = 0; i < 1200; ++i) life.history.add(event("a"));
  world.run_for(1min);
  const std::size_t left = disk.rows("SELECT * FROM event").size();
  EXPECT_LT(left, 1000U);
  // To look for what is too much costs more than a write, so it is done seldom.
  for (int i = 0; i < 30; ++i) {
    life.history.add(event("a"));
    world.run_for(1s);
  }
  EXPECT_EQ(disk.rows("SELECT * FROM event").size(), left + 30);
}

TEST_F(HistoryTest, ARowThatIsNoEventIsSaidNotBelieved) {
  {
    const Life life(world, us, disk);
  }
  disk.rows("DROP TABLE event");
  disk.rows(
      "CREATE TABLE event (id, at_ms, kind, scope, subject, names, code, severity, data, "
      "incident)");
  disk.rows("INSERT INTO event VALUES ('x','','','','','','','','','')");
  const Life next(world, us, disk);
  ASSERT_FALSE(next.opened);
  EXPECT_EQ(next.opened.error().code, Errc::kProtocol);
}

/// The process dies before a random write. What was written is whole and without a gap.
SIM_TEST_SEEDS(SimHistory, ADeathAtAnyWriteLeavesAWholeBeginning, 200) {
  SimRuntime& us = sim.host("us");
  SimDisk disk;
  disk.set_latency(Duration(sim.random().below(50'000'000)));
  std::int64_t told = 0;  // events known to be on the disk
  for (int lives = 0; lives < 5; ++lives) {
    Life life(sim, us, disk);
    ASSERT_TRUE(life.opened) << life.opened.error().describe();
    disk.die_before(1 + sim.random().below(60));
    while (!disk.died()) {
      life.history.add(event("a"));
      sim.run_for(Duration(sim.random().below(100'000'000)));
      if (life.history.unwritten() == 0 && !life.history.find({}).empty()) {
        told = life.history.find({}).back().id;
      }
    }
    const auto rows = disk.rows("SELECT id FROM event ORDER BY id");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i].integer(0), static_cast<std::int64_t>(i + 1));
    }
    ASSERT_GE(static_cast<std::int64_t>(rows.size()), told);
  }
}

}  // namespace
}  // namespace wardmote::store
