#include "store/guest_record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "judge/check_machine.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "store/clock_pair.h"

namespace wardmote::store {
namespace {

using judge::State;
using judge::guest::Verdict;
using namespace std::chrono_literals;

constexpr ClockPair kClock{TimePoint(10min), WallTime(1000h + 500us)};

GuestRecord some() {
  return {.names = {"web", "00000000-0000-4000-8000-000000000001", "shop-web"},
          .process = 7,
          .machine = {.state = State::kReported,
                      .failures = 4,
                      .ever_answered = true,
                      .booting = false,
                      .sent = true,
                      .reported = Verdict::kSpinning,
                      .reported_since = TimePoint(9min),
                      .alarms = {TimePoint(3min), TimePoint(9min)}},
          .inside = {.frozen_since = TimePoint(2min),
                     .drifts_since = TimePoint(4min),
                     .drift = -7s,
                     .full_since = TimePoint(5min),
                     .full = {"/srv"}}};
}

TEST(GuestRecord, ComesBackAsItWas) {
  const auto back = decode_guest(encode(some(), kClock), kClock);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, some());
}

TEST(GuestRecord, EveryVerdictThatAGuestCanBeReportedAsComesBack) {
  for (const Verdict verdict : {Verdict::kAgentStuck, Verdict::kNoAnswer, Verdict::kIdleHung,
                                Verdict::kSpinning, Verdict::kBootStuck, Verdict::kPanic,
                                Verdict::kDied, Verdict::kQemuStuck, Verdict::kHostStorage}) {
    GuestRecord record = some();
    record.machine.reported = verdict;
    EXPECT_EQ(decode_guest(encode(record, kClock), kClock)->machine.reported, verdict);
  }
}

TEST(GuestRecord, OneOfAnEarlierVersionHasNoAlarmsAndNoInside) {
  const auto back = decode_guest(
      R"({"name":"web","uuid":"u","state":"healthy","alarms_ms":[-1,"x"],"drift_ms":1,"full":[1]})",
      kClock);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->machine.alarms.empty());
  EXPECT_EQ(back->inside, judge::guest::InsideWatch::Record());
}

TEST(GuestRecord, ADriftThatNoClockHasIsNone) {
  std::string text = encode(some(), kClock);
  const std::string was = "\"drift_ms\":-7000";
  const auto at = text.find(was);
  ASSERT_NE(at, std::string::npos) << text;
  for (const char* const drift : {"-9223372036854775808", "9223372036854775807"}) {
    const auto back = decode_guest(
        std::string(text).replace(at, was.size(), std::string("\"drift_ms\":") + drift), kClock);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->inside.drift, Duration::zero());
    EXPECT_TRUE(back->inside.drifts_since);
  }
}

TEST(GuestRecord, KeysAreTheAgentsOwn) {
  EXPECT_EQ(guest_key("n1", "u"), "guest/n1/u");
  EXPECT_TRUE(guest_key("n1", "u").starts_with(guest_prefix("n1")));
}

TEST(GuestRecord, WhatIsNoneIsRefused) {
  for (const char* const bad :
       {"", "{}", "[]", R"({"name":"a"})", R"({"name":"a","uuid":"b","state":"odd"})", "{"}) {
    EXPECT_FALSE(decode_guest(bad, kClock)) << bad;
  }
}

}  // namespace
}  // namespace wardmote::store
