#include "store/journal.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/database.h"
#include "sim/sim_database.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/plan_record.h"
#include "store/records.h"
#include "support/logged.h"

namespace wardmote::store {
namespace {

using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

JournalEntry entry(std::string kind) {
  JournalEntry made{.kind = std::move(kind), .plan = 3, .step = "kick", .cluster = "ovn-nb"};
  made.subject = "ctl-3";
  made.actor = "ann";
  made.incident = 7;
  made.detail = "started removal";
  return made;
}

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() { EXPECT_TRUE(run_task(world, us, records.open())); }

  void open(Journal& journal) {
    const Result<void> opened = run_task(world, us, journal.open());
    EXPECT_TRUE(opened) << opened.error().describe();
  }
  Result<void> append(Journal& journal, JournalEntry row) {
    return run_task(world, us, journal.append(std::move(row)));
  }
  JournalVerdict verify() {
    const auto verdict = run_task(world, us, verify_journal(&us, &database));
    EXPECT_TRUE(verdict) << verdict.error().describe();
    return verdict.value_or(JournalVerdict{});
  }
  void sql(std::string text) {
    std::vector<runtime::SqlStatement> statements = {{std::move(text), {}}};
    EXPECT_TRUE(run_task(world, us, database.commit(std::move(statements), us.deadline_in(1s))));
  }

  World world{1};
  SimRuntime& us = world.host("us");
  SimDisk disk;
  SimDatabase database{us, disk};
  Records records{us, database};
};

TEST_F(JournalTest, KeepsRowsInOrder) {
  Journal journal(us, &database);
  open(journal);
  ASSERT_TRUE(append(journal, entry("intent")));
  ASSERT_TRUE(append(journal, entry("result")));
  EXPECT_EQ(verify().rows, 2);
  EXPECT_FALSE(verify().fault);
  Journal later(us, &database);
  open(later);
  ASSERT_EQ(later.recent().size(), 2U);
  EXPECT_EQ(later.recent().back().kind, "result");
  EXPECT_EQ(later.recent().back().incident, 7);
  ASSERT_TRUE(append(later, entry("done")));
  EXPECT_EQ(verify().rows, 3);
}

TEST_F(JournalTest, GivesAllRowsInTheirOrderWithTheirHashes) {
  Journal journal(us, &database);
  open(journal);
  for (int i = 0; i < 501; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  std::vector<std::int64_t> rows;
  std::vector<std::string> hashes;
  const auto keep = [&](const JournalEntry& row, const std::string& hash) {
    rows.push_back(row.sequence);
    hashes.push_back(hash);
  };
  ASSERT_TRUE(run_task(world, us, read_journal(&us, &database, keep)));
  ASSERT_EQ(rows.size(), 501U) << "more than a page";
  EXPECT_EQ(rows.front(), 1);
  EXPECT_EQ(rows.back(), 501);
  EXPECT_EQ(hashes.back().size(), 64U);
  EXPECT_NE(hashes.back(), hashes.front());
  sql("UPDATE journal SET seq = 1000 WHERE seq = 3");
  rows.clear();
  ASSERT_TRUE(run_task(world, us, read_journal(&us, &database, keep)));
  EXPECT_EQ(rows.back(), 1000) << "what is wrong with them is for verify to say";
}

TEST_F(JournalTest, WithoutADatabaseItHasATokenAllTheSame) {
  Journal bare(us, nullptr, {});
  ASSERT_TRUE(run_task(world, us, bare.open()));
  EXPECT_EQ(bare.token(), 1) << "0 means that nobody may act";
}

TEST_F(JournalTest, FindsAnEditOfAnyColumn) {
  Journal journal(us, &database);
  open(journal);
  for (const char* const kind : {"intent", "result", "done"}) {
    ASSERT_TRUE(append(journal, entry(kind)));
  }
  for (const char* const column : {"at_ms", "plan", "incident", "token"}) {
    const std::string name(column);
    sql("UPDATE journal SET " + name + " = " + name + " + 1 WHERE seq = 2");
    EXPECT_EQ(verify().fault, "row 2 is not as it was written") << name;
    sql("UPDATE journal SET " + name + " = " + name + " - 1 WHERE seq = 2");
    EXPECT_FALSE(verify().fault) << name;
  }
  for (const char* const column :
       {"kind", "step", "cluster", "subject", "actor", "detail", "hash"}) {
    const std::string name(column);
    sql("UPDATE journal SET " + name + " = " + name + " || 'x' WHERE seq = 2");
    EXPECT_EQ(verify().fault, "row 2 is not as it was written") << name;
    sql("UPDATE journal SET " + name + " = substr(" + name + ", 1, length(" + name +
        ") - 1) WHERE seq = 2");
    EXPECT_FALSE(verify().fault) << name;
  }
  sql("UPDATE journal SET seq = 9 WHERE seq = 3");
  EXPECT_EQ(verify().fault, "row 3 is missing");
}

TEST_F(JournalTest, FindsRowsThatAreGone) {
  Journal journal(us, &database);
  open(journal);
  for (const char* const kind : {"intent", "result", "done"}) {
    ASSERT_TRUE(append(journal, entry(kind)));
  }
  sql("DELETE FROM journal WHERE seq = 3");
  EXPECT_EQ(verify().fault, "the rows after 2 are missing");
  sql("DELETE FROM journal WHERE seq = 1");
  EXPECT_EQ(verify().fault, "row 1 is missing");
  sql("DELETE FROM journal");
  EXPECT_EQ(verify().fault, "the rows after 0 are missing");
}

TEST_F(JournalTest, TheOldestRowsGoAndTheChainGoesOnFromTheAnchor) {
  constexpr JournalLimits kLimits{.rows = 20, .age = 1h, .newest = 10, .trim_every = 5};
  Journal journal(us, &database, kLimits);
  open(journal);
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  JournalVerdict verdict = verify();
  EXPECT_FALSE(verdict.fault) << *verdict.fault;
  EXPECT_GE(verdict.rows, 20);
  EXPECT_LE(verdict.rows, 20 + 5 + 1);
  EXPECT_EQ(verdict.removed + verdict.rows, journal.recent().back().sequence);
  EXPECT_EQ(disk.rows("SELECT * FROM journal").size(), static_cast<std::size_t>(verdict.rows));

  world.run_for(2h);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  verdict = verify();
  EXPECT_FALSE(verdict.fault) << *verdict.fault;
  EXPECT_EQ(verdict.rows, 10 + 1) << "the newest stay, however old they are";

  // An agent that starts goes on.
  Journal later(us, &database, kLimits);
  open(later);
  ASSERT_TRUE(append(later, entry("result")));
  EXPECT_FALSE(verify().fault);
}

TEST_F(JournalTest, ARowIsWrittenThoughOlderOnesCannotGoAndThatIsLogged) {
  Journal journal(us, &database, {.rows = 2, .newest = 1, .trim_every = 3});
  open(journal);
  sql("CREATE TRIGGER keep BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'kept'); END");
  const testing::Logged logged;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  EXPECT_EQ(logged.levels("journal_not_trimmed"), std::vector<LogLevel>{LogLevel::kError});
  EXPECT_EQ(verify().rows, 3);
  sql("DROP TRIGGER keep");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  EXPECT_EQ(logged.count("journal_not_trimmed"), 1);
  EXPECT_LE(verify().rows, 2 + 1) << "the next time they go";
}

TEST_F(JournalTest, AnEditedAnchorIsFound) {
  Journal journal(us, &database, {.rows = 10, .newest = 5, .trim_every = 5});
  open(journal);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  const std::string anchor =
      *disk.rows("SELECT value FROM record WHERE key = 'journal/anchor'").front().text(0);
  const std::int64_t first = verify().removed + 1;
  const auto set_anchor = [&](const std::string& text) {
    sql("UPDATE record SET value = '" + text + "' WHERE key = 'journal/anchor'");
  };
  std::string other_hash = anchor;
  other_hash.back() = other_hash.back() == '0' ? '1' : '0';
  set_anchor(other_hash);
  EXPECT_EQ(verify().fault, fmt::format("row {} is not as it was written", first));
  for (const char* const bad : {"7", "x y", "-1 ab", " "}) {
    set_anchor(bad);
    EXPECT_EQ(verify().fault, "the anchor holds what nobody wrote") << bad;
  }
  // Who removes rows and moves the anchor after them has no row that says so.
  const auto last = disk.rows("SELECT seq, hash FROM journal ORDER BY seq LIMIT 1").front();
  sql("DELETE FROM journal WHERE seq = " + std::to_string(first));
  set_anchor(fmt::format("{} {}", *last.integer(0), *last.text(1)));
  EXPECT_EQ(verify().fault, fmt::format("the rows up to {} are gone, and no row says so", first));
  sql("DELETE FROM record WHERE key = 'journal/anchor'");
  EXPECT_EQ(verify().fault, "row 1 is missing");
}

TEST_F(JournalTest, ADeathWhileRowsGoLeavesTheChainWhole) {
  constexpr JournalLimits kLimits{.rows = 4, .newest = 2, .trim_every = 3};
  {
    Journal first(us, &database, kLimits);
    open(first);
  }
  for (std::uint64_t write = 1; write < 40; ++write) {
    {
      disk.die_before(write);
      auto die = [](Journal* journal) -> runtime::Task<void> {
        (void)co_await journal->open();
        for (int i = 0; i < 8; ++i) {
          JournalEntry row = entry("intent");
          (void)co_await journal->append(std::move(row));
        }
      };
      auto journal = std::make_unique<Journal>(us, &database, kLimits);
      us.spawn("append", die(journal.get()));
      world.run_until([&] { return disk.died(); }, 1min);
      us.crash();
      disk.restart();
    }
    const JournalVerdict verdict = verify();
    EXPECT_FALSE(verdict.fault) << *verdict.fault << " at write " << write;
  }
}

TEST_F(JournalTest, TextThatMovesFromOneColumnToTheNextIsAnEdit) {
  Journal journal(us, &database);
  open(journal);
  ASSERT_TRUE(append(journal, entry("intent")));
  sql("UPDATE journal SET step = 'kic', cluster = 'kovn-nb'");
  EXPECT_EQ(verify().fault, "row 1 is not as it was written");
}

TEST_F(JournalTest, AnAgentThatWasSupersededWritesNothingMore) {
  Journal former(us, &database);
  open(former);
  ASSERT_TRUE(append(former, entry("intent")));
  Journal later(us, &database);
  open(later);
  EXPECT_GT(later.token(), former.token());
  const Result<void> late = append(former, entry("result"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kRejected);
  ASSERT_TRUE(append(later, entry("result")));
  EXPECT_EQ(verify().rows, 2);
  EXPECT_FALSE(verify().fault);
}

TEST_F(JournalTest, KeepsItsIdOverLives) {
  Journal former(us, &database);
  open(former);
  EXPECT_EQ(former.id().size(), 32U);
  Journal later(us, &database);
  open(later);
  EXPECT_EQ(later.id(), former.id());
}

/// A fake: something happens once, behind the first read.
class Interrupted final : public runtime::Database {
 public:
  using Happens = std::function<runtime::Task<void>()>;
  Interrupted(runtime::Database& below, Happens happens)
      : below_(below), happens_(std::move(happens)) {}

  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement statement,
                                                           runtime::Deadline deadline) override {
    auto rows = co_await below_.read(std::move(statement), deadline);
    if (const Happens happens = std::exchange(happens_, nullptr)) co_await happens();
    co_return rows;
  }
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(
      std::vector<runtime::SqlStatement> statements, runtime::Deadline deadline) override {
    auto rows = co_await below_.transact(std::move(statements), deadline);
    co_return rows;
  }

 private:
  runtime::Database& below_;
  Happens happens_;
};

TEST_F(JournalTest, RowsThatGoWhileItIsVerifiedAreNotMissing) {
  Journal journal(us, &database, {.rows = 10, .newest = 5, .trim_every = 5});
  open(journal);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  Interrupted meanwhile(database, [&journal]() -> runtime::Task<void> {
    for (int i = 0; i < 12; ++i) {
      JournalEntry row = entry("intent");
      (void)co_await journal.append(std::move(row));
    }
  });
  const std::int64_t before = verify().removed;
  const auto verdict = run_task(world, us, verify_journal(&us, &meanwhile));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->fault) << *verdict->fault;
  EXPECT_GT(verdict->removed, before) << "rows have gone meanwhile";
}

TEST_F(JournalTest, MoreRowsThanAreReadAtOnceAreVerified) {
  constexpr int kRows = 1100;
  Journal journal(us, &database);
  open(journal);
  for (int i = 0; i < kRows; ++i) ASSERT_TRUE(append(journal, entry("intent")));
  EXPECT_EQ(verify().rows, kRows);
  EXPECT_FALSE(verify().fault);
}

TEST_F(JournalTest, GoesOnAfterADiskThatFailed) {
  Journal journal(us, &database);
  open(journal);
  ASSERT_TRUE(append(journal, entry("intent")));
  disk.fail_with(Errc::kExhausted);
  EXPECT_FALSE(append(journal, entry("lost")));
  disk.fail_with({});
  ASSERT_TRUE(append(journal, entry("result")));
  EXPECT_EQ(verify().rows, 2);
  EXPECT_FALSE(verify().fault);
}

}  // namespace
}  // namespace wardmote::store
