#include "codec/runit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "codec/tai64n.h"
#include "support/test_data.h"

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;
using State = RunitStatus::State;

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (const std::string_view digits : split(trim(hex), ' ')) {
    if (!digits.empty()) bytes += static_cast<char>(*parse_number<int>(digits, 16));
  }
  return bytes;
}

/// What `sv status` printed and the 20 bytes that it had read, of each service of the capture.
std::vector<std::pair<std::string, std::string>> captured() {
  std::ifstream file(WARDMOTE_TEST_DATA "/runit/sv-status.txt");
  std::vector<std::pair<std::string, std::string>> all;
  std::string line;
  std::string printed;
  while (std::getline(file, line)) {
    if (line.starts_with("run: ") || line.starts_with("down: ") || line.starts_with("finish: "))
      printed = line;
    std::string_view rest = line;
    if (!consume_prefix(rest, "  status bytes (") || printed.empty()) continue;
    const std::string name(take_until(rest, ')'));
    consume_prefix(rest, ":");
    if (printed.contains("/" + name + ":"))
      all.emplace_back(printed, bytes_of(rest.substr(0, rest.find("size="))));
  }
  return all;
}

/// A status of 2026-11-20 in the state run; tests break it.
std::string good() {
  return bytes_of("40 00 00 00 6a ff fd 16 09 98 fa 54 91 6f 00 00 00 75 00 01");
}

TEST(RunitStatus, OfARunningService) {
  const RunitStatus status = parse_runit_status(good()).value();
  EXPECT_EQ(status.pid, 28561U);
  EXPECT_EQ(status.state, State::kRun);
  EXPECT_TRUE(status.want_up);
  EXPECT_FALSE(status.paused);
  EXPECT_FALSE(status.got_term);
  EXPECT_EQ(format_utc(status.changed), "2026-11-20T07:55:56.161Z");
}

TEST(RunitStatus, PrintsWhatSvPrintedOfEveryCapture) {
  const auto all = captured();
  ASSERT_GE(all.size(), 10U);
  for (const auto& [printed, bytes] : all) {
    ASSERT_TRUE(parse_runit_status(bytes).has_value()) << printed;
    std::string_view line = printed;
    line = line.substr(0, line.find("; "));
    const std::size_t name_begin = line.find(": ") + 2;
    const std::string_view name = line.substr(name_begin, line.find(": ", name_begin) - name_begin);
    const bool normally_up =
        line.starts_with("down: ") ? line.contains("normally up") : !line.contains("normally down");
    const std::string_view before_s =
        line.substr(0, line.find_first_of("s", line.find_last_of("0123456789")));
    const auto seconds = parse_number<int>(before_s.substr(before_s.find_last_of(' ') + 1));
    ASSERT_TRUE(seconds.has_value()) << printed;
    const WallTime now = std::chrono::floor<std::chrono::seconds>(*parse_tai64n(bytes)) +
                         std::chrono::seconds(*seconds);
    EXPECT_EQ(sv_status_text(bytes, name, normally_up, now), line);
  }
}

TEST(RunitStatus, NonsenseIsPrintedAsSvPrintsIt) {
  const WallTime now = *parse_tai64n(bytes_of("40 00 00 00 6a ff fd 2a 00 00 00 00"));
  EXPECT_EQ(sv_status_text(std::string(20, '\0'), "once2", true, now),
            "down: once2: 4611686020222549290s, normally up");
  EXPECT_EQ(sv_status_text(bytes_of("03 5e fe 9a e8 4b 52 7c e6 db 96 43 25 e6 e4 07 42 83 13 69"),
                           "once2", true, now),
            "once2: (pid 132441637) 4368774649022294702s, paused, got TERM")
      << "the capture has no state word either, and counts eight seconds less";
}

TEST(RunitStatus, WhatIsNotOneIsRefused) {
  EXPECT_FALSE(parse_runit_status("").has_value());
  EXPECT_FALSE(parse_runit_status("short").has_value());
  EXPECT_FALSE(parse_runit_status(good() + "E").has_value());
  EXPECT_FALSE(parse_runit_status(good().substr(1)).has_value());
  EXPECT_FALSE(parse_runit_status(std::string(20, '\0')).has_value()) << "an age of centuries";
  EXPECT_FALSE(parse_runit_status(std::string(20, '\xff')).has_value());
  const auto broken = [](std::size_t at, char value) {
    std::string bytes = good();
    bytes[at] = value;
    return parse_runit_status(bytes);
  };
  EXPECT_FALSE(broken(8, '\x7f').has_value()) << "more than a second of nanoseconds";
  EXPECT_FALSE(broken(15, '\x80').has_value()) << "a negative pid";
  EXPECT_FALSE(broken(16, 2).has_value());
  EXPECT_FALSE(broken(17, 'x').has_value());
  EXPECT_FALSE(broken(18, 2).has_value());
  EXPECT_FALSE(broken(19, 3).has_value());
  EXPECT_FALSE(broken(19, 0).has_value()) << "down, with a pid";
  EXPECT_EQ(broken(19, 9).error().code, Errc::kProtocol);
}

TEST(RunitStatus, ATimeBeyondTheRangeOfTheClockIsRefused) {
  // 2^62 and ten, and 2^33 seconds after 1970 (2242).
  EXPECT_EQ(parse_tai64n(bytes_of("40 00 00 02 00 00 00 0a 00 00 00 00")),
            WallTime(std::chrono::seconds(std::int64_t{1} << 33)));
  EXPECT_EQ(parse_tai64n(bytes_of("40 00 00 02 00 00 00 0b 00 00 00 00")), std::nullopt);
}

TEST(DaemontoolsStatus, IsARunitStatusWithoutItsLastTwoBytes) {
  const RunitStatus run = parse_daemontools_status(good().substr(0, 18)).value();
  EXPECT_EQ(run.state, State::kRun);
  EXPECT_TRUE(run.want_up);
  std::string down = good().substr(0, 18);
  down.replace(12, 6, std::string(6, '\0'));
  const RunitStatus stopped = parse_daemontools_status(down).value();
  EXPECT_EQ(stopped.state, State::kDown);
  EXPECT_FALSE(stopped.want_up) << "nobody asked for anything: it is as it was started";
  EXPECT_FALSE(parse_daemontools_status(good()).has_value());
}

}  // namespace
}  // namespace wardmote::codec
