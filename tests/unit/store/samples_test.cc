#include "store/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
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

/// One life of an agent that keeps samples.
struct Life : LifeOf<Samples, SampleLimits> {
  using LifeOf::LifeOf;
  void took(std::string_view subject, std::int64_t us_taken) {
    const Measured values[] = {{Measure::kTook, us_taken}};
    samples.add(subject, values);
  }
  SampleAnswer find(const std::string& subject, Duration ago) {
    const auto found = run_task(world, us, samples.find(subject, us.wall_now() - ago));
    EXPECT_TRUE(found) << found.error().describe();
    return found.value_or(SampleAnswer{});
  }

  Samples& samples = keeper;
};

/// A fake that takes its time and has nothing to tell.
class SlowDatabase final : public runtime::Database {
 public:
  explicit SlowDatabase(SimRuntime& host) : host_(host) {}
  runtime::Task<Result<std::vector<runtime::SqlRow>>> read(runtime::SqlStatement,
                                                           runtime::Deadline) override {
    co_await host_.sleep_until(host_.now() + 100ms);
    co_return std::vector<runtime::SqlRow>{};
  }
  runtime::Task<Result<std::vector<runtime::SqlRow>>> transact(std::vector<runtime::SqlStatement>,
                                                               runtime::Deadline) override {
    co_return std::vector<runtime::SqlRow>{};
  }

 private:
  SimRuntime& host_;
};

class SamplesTest : public LivesTest {
 protected:
  /// The first column of a question that has one row.
  std::int64_t number(const std::string& sql) {
    const auto rows = disk.rows(sql);
    EXPECT_EQ(rows.size(), 1U) << sql;
    return rows.empty() ? -1 : rows[0].integer(0).value_or(-1);
  }
};

TEST_F(SamplesTest, AMinuteOfLooksIsOneSample) {
  Life life(world, us, disk);
  world.run_for(1min);
  for (const std::int64_t took : {300, 100, 500}) life.took("bird", took);
  const Measured raft[] = {{Measure::kGood, 1}, {Measure::kLogEntries, 911}};
  life.samples.add("nb/ctl-1", raft);
  EXPECT_TRUE(life.find("bird", 1h).series.empty()) << "the minute goes on";
  world.run_for(1min);

  const SampleAnswer bird = life.find("bird", 1h);
  EXPECT_EQ(bird.step, 1min);
  ASSERT_EQ(bird.series.size(), 1U);
  EXPECT_EQ(bird.series[0].measure, "took_us");
  ASSERT_EQ(bird.series[0].samples.size(), 1U);
  const Sample& sample = bird.series[0].samples[0];
  EXPECT_EQ(sample.count, 3);
  EXPECT_EQ(sample.sum, 900);
  EXPECT_EQ(sample.least, 100);
  EXPECT_EQ(sample.most, 500);
  EXPECT_LE(sample.at, us.wall_now() - 1min);
  EXPECT_GT(sample.at, us.wall_now() - 3min);
  const SampleAnswer member = life.find("nb/ctl-1", 1h);
  ASSERT_EQ(member.series.size(), 2U);
  EXPECT_EQ(member.series[0].measure, "good");
  EXPECT_EQ(member.series[1].measure, "log_entries");
  EXPECT_TRUE(life.find("nobody", 1h).series.empty());
  const auto names = run_task(world, us, life.samples.subjects());
  EXPECT_EQ(names.value_or(std::vector<std::string>{}),
            (std::vector<std::string>{"bird", "nb/ctl-1"}));
}

TEST_F(SamplesTest, AHeatMapHasEverySubjectInTheSameSpans) {
  Life life(world, us, disk);
  world.run_for(1min);
  const auto look = [&life](std::string_view subject, std::int64_t took, std::int64_t good) {
    const Measured values[] = {{Measure::kTook, took}, {Measure::kGood, good}};
    life.samples.add(subject, values);
  };
  look("guest/a", 100, 1);
  look("guest/a", 300, 0);
  look("guest/b", 50, 1);
  look("guests", 1, 1);
  life.took("guest/c", 7);  // nobody knows how it went
  look("gäste/d", 1, 1);
  world.run_for(1min);
  look("guest/b", 70, 1);
  world.run_for(1min);
  const auto heat = [&](Duration ago) {
    return run_task(world, us, life.samples.heat("guest/", us.wall_now() - ago)).value();
  };
  const HeatMap map = heat(10min);
  EXPECT_TRUE(map.complete);
  EXPECT_EQ(map.step, 1min);
  ASSERT_EQ(map.rows.size(), 3U);
  EXPECT_EQ(map.rows[0].subject, "guest/a");
  const std::vector<HeatCell>& a = map.rows[0].cells;
  const std::vector<HeatCell>& b = map.rows[1].cells;
  ASSERT_EQ(a.size(), 11U);
  ASSERT_EQ(b.size(), 11U);
  const auto at = std::ranges::find(a, HeatCell{2, 1, 200, 300}) - a.begin();
  ASSERT_LT(at, 10);
  EXPECT_EQ(std::ranges::count(a, HeatCell{}), 10);
  EXPECT_EQ(b[at], (HeatCell{1, 1, 50, 50}));
  EXPECT_EQ(b[at + 1], (HeatCell{1, 1, 70, 70}));
  EXPECT_LE(map.from + at * map.step, us.wall_now() - 2min);
  EXPECT_GT(map.from + at * map.step, us.wall_now() - 4min);
  EXPECT_EQ(map.rows[2].cells[at], (HeatCell{0, 0, 7, 7}));
  const auto abroad = run_task(world, us, life.samples.heat("gäste/", us.wall_now() - 10min));
  EXPECT_EQ(abroad.value().rows.size(), 1U) << "letters of two bytes";
  // A longer time has longer spans, never more than 60 and one that is not whole.
  EXPECT_EQ(heat(1h).step, 1min);
  EXPECT_EQ(heat(61min).step, 10min);
  EXPECT_EQ(heat(2h).step, 10min);
  EXPECT_LE(heat(24h).rows[0].cells.size(), 61U);
}

TEST_F(SamplesTest, WithoutADatabaseNothingIsMeasured) {
  Samples samples(us, nullptr);
  ASSERT_TRUE(run_task(world, us, samples.open()));
  const Measured values[] = {{Measure::kTook, 1}};
  samples.add("bird", values);
  EXPECT_FALSE(samples.stored());
  EXPECT_TRUE(run_task(world, us, samples.find("bird", WallTime()))->series.empty());
  world.run(us, samples.stop());
}

/// Tiers of an hour, six hours and a day.
SampleLimits soon_thinned() {
  SampleLimits limits;
  limits.tiers = {{{1min, 1h}, {10min, 6h}, {1h, 24h}}};
  return limits;
}

TEST_F(SamplesTest, TheOlderTheCoarserAndNothingIsLostOrCountedTwice) {
  Life life(world, us, disk, soon_thinned());
  constexpr std::int64_t kMinutes = 23 * 60;
  for (std::int64_t minute = 1; minute <= kMinutes; ++minute) {
    life.took("bird", minute);
    world.run_for(1min);
  }
  EXPECT_EQ(number("SELECT sum(n) FROM sample"), kMinutes);
  EXPECT_EQ(number("SELECT sum(total) FROM sample"), kMinutes * (kMinutes + 1) / 2);
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(us.wall_now().time_since_epoch()).count();
  // It is thinned every ten minutes, in whole spans of the next tier.
  const auto oldest_ago = [&](int step) {
    return now - number("SELECT min(at_s) FROM sample WHERE step_s = " + std::to_string(step));
  };
  EXPECT_LE(oldest_ago(60), 3600 + 1200);
  EXPECT_GE(oldest_ago(60), 3600);
  EXPECT_LE(oldest_ago(600), 6 * 3600 + 3600 + 600);
  EXPECT_GE(oldest_ago(600), 6 * 3600);
  EXPECT_LE(number("SELECT count(*) FROM sample"), 81 + 43 + 18);
  EXPECT_EQ(number("SELECT count(*) FROM sample WHERE n > 60 OR at_s % step_s != 0"), 0);

  // Asked for a day, spans get longer, and hold the same.
  const SampleAnswer day = life.find("bird", 24h);
  EXPECT_EQ(day.step, 10min);
  std::int64_t sum = 0;
  for (const Sample& sample : day.series.at(0).samples) sum += sample.sum;
  EXPECT_EQ(sum, kMinutes * (kMinutes + 1) / 2);
  EXPECT_EQ(day.series[0].samples.front().least, 1);
  EXPECT_EQ(day.series[0].samples.back().most, kMinutes);
  EXPECT_EQ(life.find("bird", 1h).step, 1min);
  EXPECT_EQ(life.find("bird", std::chrono::days(30)).step, 6h);

  world.run_for(30h);
  EXPECT_EQ(number("SELECT count(*) FROM sample"), 0) << "the last tier has an end";
}

TEST_F(SamplesTest, TooManyAreThinnedEarlierAndTheLastTierGivesUpItsOldest) {
  SampleLimits limits = soon_thinned();
  for (auto& tier : limits.tiers) tier.rows = 50;
  Life life(world, us, disk, limits);
  for (int minute = 0; minute < 12 * 60; ++minute) {
    for (int i = 0; i < 10; ++i) life.took("check-" + std::to_string(i), 1);
    world.run_for(1min);
  }
  for (const char* step : {"60", "600", "3600"}) {
    // What came since it was thinned last, and the span that could not go as a whole.
    EXPECT_LE(number(std::string("SELECT count(*) FROM sample WHERE step_s = ") + step), 50 + 200)
        << step;
  }
  EXPECT_GT(number("SELECT count(*) FROM sample WHERE step_s = 3600"), 0);
  EXPECT_GT(number("SELECT count(*) FROM sample WHERE step_s = 60"), 0);
}

TEST_F(SamplesTest, AMinuteThatTwoLivesShareIsOneSample) {
  {
    Life life(world, us, disk);
    life.took("bird", 100);
  }
  Life next(world, us, disk);
  next.took("bird", 300);
  world.run_for(1min);
  const SampleAnswer bird = next.find("bird", 1h);
  ASSERT_EQ(bird.series.size(), 1U);
  ASSERT_EQ(bird.series[0].samples.size(), 1U);
  EXPECT_EQ(bird.series[0].samples[0].count, 2);
  EXPECT_EQ(bird.series[0].samples[0].least, 100);
  EXPECT_EQ(bird.series[0].samples[0].most, 300);
}

TEST_F(SamplesTest, AFullDiskIsWaitedForInBoundedMemory) {
  SampleLimits limits;
  limits.unwritten = 30;
  Life life(world, us, disk, limits);
  disk.fail_with(Errc::kExhausted);
  for (int minute = 0; minute < 60; ++minute) {
    life.took("bird", 1);
    world.run_for(1min);
  }
  EXPECT_EQ(life.samples.unwritten(), 30U);
  EXPECT_EQ(life.samples.dropped(), 30U);
  disk.fail_with(std::nullopt);
  world.run_for(1min);
  EXPECT_EQ(life.samples.unwritten(), 0U);
  EXPECT_EQ(number("SELECT sum(n) FROM sample"), 30);
}

TEST_F(SamplesTest, ADiskThatTakesNothingIsSaidOnceAndItsReturnToo) {
  Life life(world, us, disk);
  const testing::Logged logged;
  disk.fail_with(Errc::kExhausted);
  for (int minute = 0; minute < 5; ++minute) {
    life.took("bird", 1);
    world.run_for(1min);
  }
  EXPECT_EQ(logged.levels("samples_not_written"), std::vector{LogLevel::kError});
  disk.fail_with(std::nullopt);
  world.run_for(5s);
  EXPECT_EQ(logged.levels("samples_written_again"), std::vector{LogLevel::kInfo});
  EXPECT_EQ(life.samples.complaint(), std::nullopt) << "and not when the next minute is over";
  EXPECT_EQ(number("SELECT sum(n) FROM sample"), 5);
}

TEST_F(SamplesTest, ADiskThatWasFullAtTheStartIsTriedAgain) {
  disk.fail_with(Errc::kExhausted);
  Life life(world, us, disk);
  ASSERT_NE(life.samples.complaint(), std::nullopt);
  world.run_for(30s);
  EXPECT_NE(life.samples.complaint(), std::nullopt);
  disk.fail_with(std::nullopt);
  world.run_for(10s);
  EXPECT_EQ(life.samples.complaint(), std::nullopt);
}

TEST_F(SamplesTest, ManyWhoAskAtOnceDoNotFillTheQueueOfTheDatabase) {
  SlowDatabase database(us);
  Samples samples(us, &database);
  int answered = 0;
  int refused = 0;
  const auto ask = [](Samples* samples, int* well, int* ill) -> runtime::Task<void> {
    const auto names = co_await samples->subjects();
    if (names) ++*well;
    if (!names && names.error().code == Errc::kLimit) ++*ill;
  };
  for (int i = 0; i < 100; ++i) us.spawn("ask", ask(&samples, &answered, &refused));
  world.run_for(1s);
  EXPECT_EQ(answered, Samples::kReaders);
  EXPECT_EQ(refused, 100 - Samples::kReaders);
  EXPECT_TRUE(run_task(world, us, samples.subjects())) << "later there is room again";
}

TEST_F(SamplesTest, ValuesOfAHostilePeerAddUpAllTheSame) {
  Life life(world, us, disk);
  for (int i = 0; i < 100; ++i) life.took("bird", INT64_MAX);
  life.took("bird", INT64_MIN);
  world.run_for(1min);
  const SampleAnswer bird = life.find("bird", 1h);
  ASSERT_EQ(bird.series.size(), 1U);
  EXPECT_EQ(bird.series[0].samples.at(0).most, std::int64_t{1} << 40);
  EXPECT_EQ(bird.series[0].samples.at(0).least, 0);
}

TEST_F(SamplesTest, MoreSubjectsThanTheLimitAreNotMeasured) {
  SampleLimits limits;
  limits.subjects = 3;
  Life life(world, us, disk, limits);
  for (int i = 0; i < 10; ++i) life.took("check-" + std::to_string(i), 1);
  world.run_for(1min);
  EXPECT_EQ(number("SELECT count(*) FROM sample"), 3);
}

TEST_F(SamplesTest, ARowThatIsNoSampleIsSaidNotBelieved) {
  Life life(world, us, disk);
  life.took("bird", 1);
  world.run_for(1min);
  disk.rows("UPDATE sample SET n = 0");
  const auto found = run_task(world, us, life.samples.find("bird", us.wall_now() - 1h));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kProtocol);
}

/// The process dies before a random write. What is on the disk was measured, once.
SIM_TEST_SEEDS(SimSamples, ADeathAtAnyWriteCountsNothingTwice, 100) {
  SimRuntime& us = sim.host("us");
  SimDisk disk;
  disk.set_latency(Duration(sim.random().below(50'000'000)));
  std::int64_t measured = 0;
  for (int lives = 0; lives < 4; ++lives) {
    Life life(sim, us, disk, soon_thinned());
    ASSERT_TRUE(life.opened) << life.opened.error().describe();
    disk.die_before(1 + sim.random().below(400));
    while (!disk.died()) {
      life.took("bird", 1);
      ++measured;
      sim.run_for(Duration(30s));
    }
    const auto rows = disk.rows("SELECT sum(n), sum(total), max(most) FROM sample");
    const std::int64_t kept = rows.at(0).integer(0).value_or(0);
    ASSERT_LE(kept, measured);
    // What died with a process is a write's worth, and each minute is written.
    ASSERT_GE(kept, measured - 3 * (lives + 1));
    ASSERT_EQ(rows[0].integer(1).value_or(0), kept);
  }
}

}  // namespace
}  // namespace wardmote::store
