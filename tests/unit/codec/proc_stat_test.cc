#include "codec/proc_stat.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

/// Of Linux 6.18, shortened behind the start time.
constexpr std::string_view kSleep =
    "28561 (sleep) S 28552 28552 28552 0 -1 4194560 127 0 0 0 0 0 0 0 20 0 1 0 123456 5595136 490 "
    "18446744073709551615\n";

TEST(ProcStat, OfAProcess) {
  const ProcStat stat = parse_proc_stat(kSleep).value();
  EXPECT_EQ(stat, (ProcStat{28561, "sleep", 'S', 28552, 0s, TimePoint(1234560ms)}));
}

TEST(ProcStat, ANameMayHoldAnything) {
  const ProcStat stat =
      parse_proc_stat("7 (a) R 1 (b\n) T 2 0 0 0 0 0 0 0 0 0 30 12 0 0 0 0 0 0 100 0").value();
  EXPECT_EQ(stat.name, "a) R 1 (b\n");
  EXPECT_EQ(stat.state, 'T');
  EXPECT_EQ(stat.parent, 2U);
  EXPECT_EQ(stat.started, TimePoint(1s));
  EXPECT_EQ(stat.cpu, 420ms);
}

TEST(ProcStat, WhatIsNotOneIsRefused) {
  EXPECT_FALSE(parse_proc_stat("").has_value());
  EXPECT_FALSE(parse_proc_stat("7 (a").has_value());
  EXPECT_FALSE(parse_proc_stat(") (").has_value());
  EXPECT_FALSE(parse_proc_stat("7 (a) R 1").has_value());
  EXPECT_FALSE(parse_proc_stat("x (a) R 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100").has_value());
  EXPECT_FALSE(
      parse_proc_stat("7 (a) R 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9999999999999999").has_value());
}

TEST(ProcRss, IsInBytes) {
  EXPECT_EQ(parse_proc_rss("Name:\tbird\nVmHWM:\t  9000 kB\nVmRSS:\t    8192 kB\n").value(),
            8192U * 1024);
  EXPECT_FALSE(parse_proc_rss("Name:\tkthreadd\n").has_value());
  EXPECT_FALSE(parse_proc_rss("VmRSS:\t many kB\n").has_value());
  EXPECT_FALSE(parse_proc_rss("VmRSS:\t99999999999999999999 kB\n").has_value());
}

}  // namespace
}  // namespace wardmote::codec
