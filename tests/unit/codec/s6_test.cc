#include "codec/s6.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "codec/tai64n.h"
#include "support/test_data.h"

namespace wardmote::codec {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (const std::string_view digits : split(trim(hex), ' ')) {
    if (!digits.empty()) bytes += static_cast<char>(*parse_number<int>(digits, 16));
  }
  return bytes;
}

/// The dumps of status files, in the order of the capture.
std::vector<std::string> captured() {
  std::ifstream file(WARDMOTE_TEST_DATA "/s6/svstat.txt");
  std::vector<std::string> dumps;
  std::string line;
  for (bool inside = false; std::getline(file, line);) {
    const bool dump = line.size() > 3 && line[0] == ' ' && line[3] == ' ';
    if (dump && !inside) dumps.emplace_back();
    if (dump) dumps.back() += bytes_of(line);
    inside = dump;
  }
  return dumps;
}

TEST(S6Status, OfARunningServiceThatHasNotSaidThatItIsReady) {
  // up (pid 5689) 2 seconds; normally up, ready false
  const S6Status status = parse_s6_status(captured().at(0)).value();
  EXPECT_EQ(status.pid, 5689U);
  EXPECT_TRUE(status.want_up);
  EXPECT_FALSE(status.ready);
  EXPECT_FALSE(status.paused);
  EXPECT_FALSE(status.finishing);
  EXPECT_EQ(format_utc(status.changed), "2026-11-20T08:05:21.431Z");
}

/// tai64 labels of the days around leap seconds, by IERS Bulletin C.
TEST(RealTai, TakesOffTheLeapSecondsOfItsDay) {
  const auto at = [](std::int64_t unix_seconds, int offset) {
    const auto label = (std::uint64_t{1} << 62) + static_cast<std::uint64_t>(unix_seconds + offset);
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(label >> shift);
    return parse_real_tai64n(bytes + std::string(4, '\0')).value();
  };
  const auto moment = [](std::int64_t unix_seconds) {
    return WallTime(std::chrono::seconds(unix_seconds));
  };
  EXPECT_EQ(at(1'795'000'000, 37), moment(1'795'000'000)) << "2026";
  EXPECT_EQ(at(1'483'228'801, 37), moment(1'483'228'801)) << "just after the last one";
  EXPECT_EQ(at(1'483'228'799, 36), moment(1'483'228'799)) << "just before it";
  EXPECT_EQ(at(1'000'000'000, 32), moment(1'000'000'000)) << "2001";
  EXPECT_EQ(at(70'000'000, 10), moment(70'000'000)) << "1972";
}

/// One more each, at these midnights (IERS Bulletin C).
TEST(RealTai, KnowsEachLeapSecond) {
  using namespace std::chrono;
  constexpr sys_days kMidnights[] = {
      1972y / July / 1,    1973y / January / 1, 1974y / January / 1, 1975y / January / 1,
      1976y / January / 1, 1977y / January / 1, 1978y / January / 1, 1979y / January / 1,
      1980y / January / 1, 1981y / July / 1,    1982y / July / 1,    1983y / July / 1,
      1985y / July / 1,    1988y / January / 1, 1990y / January / 1, 1991y / January / 1,
      1992y / July / 1,    1993y / July / 1,    1994y / July / 1,    1996y / January / 1,
      1997y / July / 1,    1999y / January / 1, 2006y / January / 1, 2009y / January / 1,
      2012y / July / 1,    2015y / July / 1,    2017y / January / 1};
  seconds before = 10s;
  for (const sys_days midnight : kMidnights) {
    const auto at = [](sys_seconds time, seconds offset) {
      const auto label = (std::uint64_t{1} << 62) +
                         static_cast<std::uint64_t>((time.time_since_epoch() + offset).count());
      std::string bytes;
      for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(label >> shift);
      return parse_real_tai64n(bytes + std::string(4, '\0')).value();
    };
    EXPECT_EQ(at(midnight - 1s, before), midnight - 1s) << midnight.time_since_epoch().count();
    EXPECT_EQ(at(midnight + 1s, before + 1s), midnight + 1s) << midnight.time_since_epoch().count();
    before += 1s;
  }
}

TEST(S6Status, OfACrashLoop) {
  // down (exitcode 3) 0 seconds, normally up, want up, ready 0 seconds
  const S6Status status = parse_s6_status(captured().at(1)).value();
  EXPECT_EQ(status.pid, 0U);
  EXPECT_EQ(status.last_end, (ProcessEnd{3, 0}));
  EXPECT_TRUE(status.want_up);
  EXPECT_TRUE(status.ready);
}

TEST(S6Status, OfOneEndedByASignal) {
  std::string bytes = captured().at(1);
  bytes[32] = 0;
  bytes[33] = 15;
  EXPECT_EQ(parse_s6_status(bytes)->last_end, (ProcessEnd{0, 15}));
}

TEST(S6Status, SinceItsProcessGroupIsInIt) {
  std::string bytes = captured().at(0);
  bytes.insert(32, std::string(8, '\x01'));
  const S6Status status = parse_s6_status(bytes).value();
  EXPECT_EQ(status.pid, 5689U);
  EXPECT_TRUE(status.want_up);
}

TEST(S6Status, WhatIsNotOneIsRefused) {
  for (const std::size_t size : {0, 18, 20, 34, 36, 42, 44}) {
    EXPECT_FALSE(parse_s6_status(std::string(size, '@')).has_value()) << size;
  }
  EXPECT_FALSE(parse_s6_status(std::string(35, '\0')).has_value());
  std::string bytes = captured().at(0);
  bytes[24] = '\x7f';
  EXPECT_FALSE(parse_s6_status(bytes).has_value()) << "a pid of 64 bits";
}

TEST(S6DeathTally, HoldsWhenAndHowItEnded) {
  const std::string stamp = captured().at(1).substr(0, 12);
  const auto deaths = parse_s6_death_tally(stamp + "\x03" + std::string(1, '\0') + stamp +
                                           std::string(1, '\0') + "\x0f");
  ASSERT_TRUE(deaths.has_value());
  ASSERT_EQ(deaths->size(), 2U);
  EXPECT_EQ(deaths->at(0).end, (ProcessEnd{3, 0}));
  EXPECT_EQ(deaths->at(1).end, (ProcessEnd{0, 15}));
  EXPECT_EQ(parse_s6_death_tally("")->size(), 0U);
  EXPECT_FALSE(parse_s6_death_tally(stamp).has_value());
  EXPECT_FALSE(parse_s6_death_tally(std::string(14, 'x')).has_value());
  // s6 keeps no more than 4096 of them.
  std::string many;
  for (int i = 0; i < 4096; ++i) many += stamp + std::string(2, '\0');
  EXPECT_EQ(parse_s6_death_tally(many)->size(), 4096U);
  EXPECT_FALSE(parse_s6_death_tally(many + stamp + std::string(2, '\0')).has_value());
}

}  // namespace
}  // namespace wardmote::codec
