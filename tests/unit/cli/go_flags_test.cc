#include "cli/go_flags.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::cli {
namespace {

using Words = std::vector<std::string>;
using namespace std::chrono_literals;

TEST(GoFlags, OneDashIsTwo) {
  EXPECT_EQ(from_go_flags({"calico-health", "-bird-live", "--felix-live", "-threshold-time", "30s",
                           "-threshold-time=1m"}),
            (Words{"calico-health", "--bird-live", "--felix-live", "--threshold-time", "30s",
                   "--threshold-time=1m"}));
}

TEST(GoFlags, SwitchesMaySayTrueOrFalse) {
  EXPECT_EQ(
      from_go_flags({"--bird-live=true", "-bird-ready=1", "-felix-live=false", "--felix-ready=F"}),
      (Words{"--bird-live", "--bird-ready"}));
}

TEST(GoFlags, LettersAndValuesStay) {
  EXPECT_EQ(from_go_flags({"-h", "-2s", "--", "-x-y"}), (Words{"-h", "-2s", "--", "-x-y"}));
}

TEST(GoDuration, IsGos) {
  EXPECT_EQ(parse_go_duration("30s"), 30s);
  EXPECT_EQ(parse_go_duration("1h"), 1h);
  EXPECT_EQ(parse_go_duration("1m30s"), 90s);
  EXPECT_EQ(parse_go_duration("1.5h"), 90min);
  EXPECT_EQ(parse_go_duration(".5s"), 500ms);
  EXPECT_EQ(parse_go_duration("100us"), 100us);
  EXPECT_EQ(parse_go_duration("1µs"), 1us);
  EXPECT_EQ(parse_go_duration("-2ms"), -2ms);
  EXPECT_EQ(parse_go_duration("0"), 0s);
  for (const char* wrong : {"", "30", "s", "1.s.", "-", "1d", "99999999999h", "1 s"})
    EXPECT_FALSE(parse_go_duration(wrong).has_value()) << wrong;
}

TEST(ProgramNames, StandForTheVerb) {
  EXPECT_EQ(words_of("/bin/calico-node", {"-bird-live"}), (Words{"calico-health", "-bird-live"}));
  EXPECT_EQ(words_of("calico", {"component", "node", "health", "--bird-live"}),
            (Words{"calico-health", "--bird-live"}));
  EXPECT_EQ(words_of("calico", {"version"}), (Words{"version"}));
  EXPECT_EQ(words_of("/usr/bin/wardmote", {"status"}), (Words{"status"}));
}

}  // namespace
}  // namespace wardmote::cli
