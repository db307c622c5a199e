#include "judge/host/database_host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

DatabaseHostFacts well() {
  DatabaseHostFacts facts;
  facts.kind = DatabaseFileKind::kClustered;
  facts.header = RaftHeaderFacts{.database = "OVN_Northbound",
                                 .server_id = "5b4b",
                                 .cluster_id = "dea6",
                                 .address = "tcp:10.0.0.1:6643"};
  facts.free_bytes = 50;
  facts.total_bytes = 100;
  facts.free_inodes = 50;
  facts.total_inodes = 100;
  return facts;
}

TEST(DatabaseHost, LittleSpaceWarnsAndVeryLittleFails) {
  DatabaseHostFacts facts = well();
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kOk);
  facts.free_bytes = 9;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kWarn);
  facts.free_bytes = 3;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kFail);
  facts = well();
  facts.free_inodes = 2;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kFail);
  facts.free_inodes = facts.total_inodes = 0;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kOk) << "btrfs counts none";
}

TEST(DatabaseHost, DaysAreCountedFromTheLeastOfEachHour) {
  SpaceTrend trend;
  TimePoint now{};
  std::uint64_t free = 2400;
  std::optional<double> days;
  for (int half_hour = 0; half_hour <= 24; ++half_hour) {
    // It grows by 50 an hour, and a compaction gives 30 back for half an hour.
    const std::uint64_t compacted = half_hour % 2 == 1 ? 30 : 0;
    days = trend.feed(free + compacted, now);
    if (half_hour < 12) EXPECT_FALSE(days) << half_hour;
    now += 30min;
    free -= 25;
  }
  ASSERT_TRUE(days);
  EXPECT_NEAR(*days, 1800.0 / (50 * 24), 0.1);
  DatabaseHostFacts facts = well();
  facts.days_left = 2.9;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kWarn);
  facts.days_left = 0.9;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kFail);
}

TEST(DatabaseHost, SpaceThatDoesNotShrinkHasNoEnd) {
  SpaceTrend trend;
  TimePoint now{};
  for (int hour = 0; hour < 100; ++hour, now += 1h) EXPECT_FALSE(trend.feed(1000, now));
}

TEST(DatabaseHost, AServerThatEndedIsToldWithItsLastWords) {
  DatabaseHostFacts facts = well();
  facts.runs = true;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kOk);
  facts.runs = false;
  facts.last_words = {"first", "ovsdb error: No space left on device"};
  const Judgement judged = judge_database_host(facts, {});
  EXPECT_EQ(judged.outcome, Outcome::kFail);
  EXPECT_NE(judged.reason.text.find("No space left"), std::string::npos);
}

/// What ended it may be what else is wrong there, and a restart would not mend that.
TEST(DatabaseHost, AllThatIsEquallyBadIsToldTogether) {
  DatabaseHostFacts facts = well();
  facts.runs = false;
  facts.header.reset();
  facts.kind = DatabaseFileKind::kUnreadable;
  facts.unreadable = "no header";
  facts.free_bytes = 9;
  EXPECT_EQ(judge_database_host(facts, {}).reason.text,
            "the server has ended; the database file is damaged: no header")
      << "a warning is told when nothing is worse";
  facts.free_bytes = 0;
  EXPECT_EQ(judge_database_host(facts, {}).reason.text,
            "the server has ended; the database file is damaged: no header; 0.0 % of the bytes of "
            "its file system are free");
  facts = well();
  facts.runs = true;
  facts.free_bytes = 9;
  EXPECT_EQ(judge_database_host(facts, {}).reason.text,
            "9.0 % of the bytes of its file system are free");
}

TEST(DatabaseHost, AFileThatIsNotThatOfTheServerIsBad) {
  DatabaseHostFacts facts = well();
  EXPECT_EQ(judge_database_host(facts, {.server_id = "5b4b"}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_database_host(facts, {.server_id = "e85f"}).outcome, Outcome::kFail);
  facts.header->cluster_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kFail);
  facts.header->joining = true;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kOk) << "it will get one";
  facts.header.reset();
  facts.kind = DatabaseFileKind::kUnreadable;
  EXPECT_EQ(judge_database_host(facts, {}).outcome, Outcome::kFail);
}

}  // namespace
}  // namespace wardmote::judge
