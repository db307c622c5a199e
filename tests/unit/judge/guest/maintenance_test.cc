#include "judge/guest/maintenance.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"
#include "base/utc.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

using namespace std::chrono_literals;

TEST(GuestMaintenance, AWindowIsOpenOnceOrAgainAndAgain) {
  const auto once = parse_window("2026-11-25T02:00:00Z for 2h");
  ASSERT_TRUE(once);
  const WallTime begin = *parse_utc("2026-11-25T02:00:00Z");
  EXPECT_FALSE(is_open(*once, begin - 1s));
  EXPECT_TRUE(is_open(*once, begin));
  EXPECT_TRUE(is_open(*once, begin + 2h - 1s));
  EXPECT_FALSE(is_open(*once, begin + 2h));
  EXPECT_FALSE(is_open(*once, begin + 168h));
  const auto weekly = parse_window(" 2026-11-25T02:00:00Z for 2h every 168h ");
  ASSERT_TRUE(weekly);
  EXPECT_FALSE(is_open(*weekly, begin - 168h));
  EXPECT_TRUE(is_open(*weekly, begin + 1h));
  EXPECT_FALSE(is_open(*weekly, begin + 24h));
  EXPECT_TRUE(is_open(*weekly, begin + 10 * 168h + 1h));
  EXPECT_FALSE(is_open(*weekly, begin + 10 * 168h + 2h));
}

TEST(GuestMaintenance, NothingElseIsAWindow) {
  for (const char* const text :
       {"", "2h", "2026-11-25T02:00:00Z", "2026-11-25T02:00:00Z for", "2026-11-25T02:00:00Z 2h",
        "2026-11-25T02:00:00Z for 2h each 3h", "2026-11-25T02:00:00Z for 2h every 2h",
        "2026-11-25T02:00:00Z for 2h every 3h now", "2026-11-25T02:00:00Z for 0s",
        "tomorrow for 2h", "2026-11-25T02:00:00+01:00 for 2h", "2026-11-25T02:00:00Z for 20000h"})
    EXPECT_FALSE(parse_window(text)) << text;
}

/// A guest that answered, and then hangs.
class Guest {
 public:
  Guest() : machine({}, now_) {
    machine.found(Run::kRunning, Pause::kOrdered, now_);
    machine.pinged(Ping::kAnswered, now_);
  }
  void silent(int pings) {
    for (int i = 0; i < pings; ++i) {
      now_ += 10s;
      if (machine.asks(now_)) machine.pinged(Ping::kSilent, now_);
    }
  }
  Verdict verdict() { return machine.verdict(now_); }
  TimePoint now() { return now_; }

 private:
  TimePoint now_ = TimePoint(1h);

 public:
  Machine machine;
};

TEST(GuestMaintenance, NobodyIsToldMeanwhileAndAfterItTheCountBeginsAnew) {
  Guest guest;
  guest.silent(2);
  guest.machine.maintain(true);
  EXPECT_FALSE(guest.machine.asks(guest.now()));
  guest.silent(10);
  EXPECT_EQ(guest.verdict(), Verdict::kMaintenance);
  guest.machine.maintain(false);
  EXPECT_EQ(guest.verdict(), Verdict::kHealthy);
  guest.silent(2);
  EXPECT_EQ(guest.verdict(), Verdict::kSilent) << "from zero";
  guest.silent(1);
  EXPECT_EQ(guest.verdict(), Verdict::kNoAnswer);
}

TEST(GuestMaintenance, WhatWasReportedIsLookedAtAgain) {
  Guest guest;
  guest.silent(3);
  EXPECT_EQ(guest.verdict(), Verdict::kNoAnswer);
  guest.machine.maintain(true);
  EXPECT_EQ(guest.verdict(), Verdict::kMaintenance);
  EXPECT_FALSE(guest.machine.reported_lost()) << "nobody restarts it";
  guest.machine.maintain(false);
  EXPECT_EQ(guest.verdict(), Verdict::kHealthy);
}

TEST(GuestMaintenance, AGuestThatDiedMeanwhileIsToldOfAfterwards) {
  Guest guest;
  guest.machine.maintain(true);
  guest.machine.died(guest.now());
  EXPECT_EQ(guest.verdict(), Verdict::kMaintenance);
  guest.machine.maintain(false);
  EXPECT_EQ(guest.verdict(), Verdict::kDied);
}

}  // namespace
}  // namespace wardmote::judge::guest
