#include "judge/self/starvation_guard.h"

#include <gtest/gtest.h>

#include <utility>

namespace wardmote::judge {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1000s};
constexpr WallTime kWallStart{1'700'000'000s};

/// A heartbeat every 100 ms, with a pause or a jump of the wall clock where a test says so.
class Heart {
 public:
  /// Beats on time for `time`.
  Heart& beat(Duration time) {
    for (const TimePoint end = now_ + time; now_ < end;) {
      due_ = now_ += 100ms;
      wall_ += 100ms;
      guard_.beat(due_, now_, wall_);
    }
    return *this;
  }
  /// The process stands still for `time`; the next beat is late by it.
  Heart& pause(Duration time) {
    due_ = now_ + 100ms;
    now_ = due_ + time;
    wall_ += 100ms + time;
    guard_.beat(due_, now_, wall_);
    return *this;
  }
  Heart& jump(Duration by) {
    wall_ += by;
    return *this;
  }
  Heart& run_dry() {
    guard_.exhausted(now_);
    return *this;
  }
  [[nodiscard]] bool voids(Duration begun_ago, Duration ended_ago) const {
    return guard_.voids(now_ - begun_ago, now_ - ended_ago);
  }
  [[nodiscard]] std::optional<std::string> complaint() const { return guard_.complaint(now_); }

 private:
  StarvationGuard guard_;
  TimePoint now_ = kStart;
  TimePoint due_ = kStart;
  WallTime wall_ = kWallStart;
};

TEST(StarvationGuard, OnTimeVoidsNothing) {
  Heart heart;
  heart.beat(10s);
  EXPECT_FALSE(heart.voids(10s, 0s));
  EXPECT_EQ(heart.complaint(), std::nullopt);
}

TEST(StarvationGuard, ALittleLateIsNotStarved) {
  Heart heart;
  heart.beat(1s).pause(249ms);
  EXPECT_FALSE(heart.voids(1s, 0s));
  heart.pause(250ms);
  EXPECT_TRUE(heart.voids(1s, 0s));
}

TEST(StarvationGuard, VoidsTheLooksThatThePauseTouches) {
  Heart heart;
  heart.beat(1s).pause(3s).beat(1s);
  EXPECT_TRUE(heart.voids(4s, 2s)) << "within the pause";
  EXPECT_TRUE(heart.voids(5s, 500ms)) << "around the pause";
  EXPECT_TRUE(heart.voids(4500ms, 3500ms)) << "begun before it";
  EXPECT_TRUE(heart.voids(1500ms, 200ms)) << "ended after it";
  EXPECT_FALSE(heart.voids(900ms, 0s)) << "all after it";
  EXPECT_FALSE(heart.voids(5s, 4200ms)) << "all before it";
}

TEST(StarvationGuard, ALateBeatThatIsToldTwiceChangesNothing) {
  StarvationGuard guard;
  guard.beat(kStart, kStart, kWallStart);
  for (int i = 0; i < 2; ++i) guard.beat(kStart + 100ms, kStart + 2s, kWallStart + 2s);
  EXPECT_TRUE(guard.voids(kStart + 1s, kStart + 2s));
  EXPECT_FALSE(guard.voids(kStart, kStart + 50ms));
}

TEST(StarvationGuard, PausesThatTouchAreOne) {
  Heart heart;
  heart.beat(1s).pause(1s).pause(1s);
  EXPECT_TRUE(heart.voids(1900ms, 1800ms)) << "the first of both";
  heart.beat(2s).pause(1s);
  EXPECT_FALSE(heart.voids(4s, 3900ms)) << "long ago, and judged already";
}

TEST(StarvationGuard, AJumpOfTheWallClockIsASign) {
  for (const Duration jump : {3s, -3s}) {
    Heart heart;
    heart.beat(1s).jump(jump).beat(100ms);
    EXPECT_TRUE(heart.voids(50ms, 0s));
    EXPECT_NE(heart.complaint()->find("the wall clock jumped"), std::string::npos);
  }
  for (const auto& [jump, words] :
       {std::pair{Duration(24h), "the wall clock jumped forward by 1d00h, "},
        std::pair{Duration(-3h), "the wall clock jumped back by 3h00m, "}}) {
    Heart heart;
    heart.beat(1s).jump(jump).beat(100ms);
    EXPECT_TRUE(heart.complaint()->contains(words)) << *heart.complaint();
  }
  Heart slewed;
  slewed.beat(1s).jump(1s).beat(100ms);
  EXPECT_FALSE(slewed.voids(1s, 0s));
}

TEST(StarvationGuard, LackOfDescriptorsVoidsTheLookThatMetIt) {
  Heart heart;
  heart.beat(1s).run_dry();
  EXPECT_TRUE(heart.voids(500ms, 0s));
  EXPECT_NE(heart.complaint()->find("descriptors"), std::string::npos);
}

TEST(StarvationGuard, ComplainsUntilItHasBeenQuietForAWhile) {
  Heart heart;
  heart.beat(1s).pause(3s).beat(1s);
  EXPECT_EQ(heart.complaint(), "prober starved: its timers ran late for 3.0s, 1.0s ago");
  heart.beat(3900ms);
  EXPECT_NE(heart.complaint(), std::nullopt);
  heart.beat(100ms);
  EXPECT_EQ(heart.complaint(), std::nullopt);
}

}  // namespace
}  // namespace wardmote::judge
