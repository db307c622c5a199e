#include "store/check_record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;

constexpr ClockPair kClock{TimePoint(10h), WallTime(480'000h + 500us)};

judge::CheckChanged change() {
  return {judge::State::kHealthy,
          judge::State::kReported,
          {judge::ReasonCode::kHung, "no answer by 900 ms"},
          false,
          true};
}

TEST(CheckRecord, ComesBackAsItWas) {
  const auto back = decode_reported_check(encode_reported_check("bird", "bird", change(), kClock),
                                          {TimePoint(1h), kClock.wall_now + 10min});
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->name, "bird");
  EXPECT_EQ(back->kind, "bird");
  EXPECT_EQ(back->since, TimePoint(50min));
  EXPECT_EQ(back->change.to, judge::State::kReported);
  EXPECT_EQ(back->change.reason, change().reason);
  EXPECT_FALSE(back->change.counts);
  EXPECT_TRUE(back->change.seen_good);
}

TEST(CheckRecord, AReasonOfAThousandCharactersComesBackWholeAndALongerOneIsCut) {
  for (const std::size_t size : {1024, 1025}) {
    judge::CheckChanged wordy = change();
    wordy.reason.text = std::string(size, 'a');
    const auto back =
        decode_reported_check(encode_reported_check("bird", "bird", wordy, kClock), kClock);
    ASSERT_TRUE(back) << back.error().describe();
    EXPECT_EQ(back->change.reason.text == wordy.reason.text, size == 1024) << size;
  }
}

TEST(CheckRecord, WhatIsNoneIsSaid) {
  for (const char* text :
       {"", "{}", "[]", R"({"check":"bird","kind":"bird","change":{}})",
        R"({"check":"bird","since":1})", R"({"check":"bird","change":{}})",
        R"({"since":1,"change":{}})", R"({"check":"bird","since":1,"change":[]})"}) {
    EXPECT_FALSE(decode_reported_check(text, kClock)) << text;
  }
}

}  // namespace
}  // namespace wardmote::store
