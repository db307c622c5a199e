#include "cli/go_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_table.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

using Words = std::vector<std::string>;
using namespace std::chrono_literals;

TEST(GoFlags, OneDashIsTwo) {
  EXPECT_EQ(
      from_go_flags({"-bird-live", "--felix-live", "-threshold-time", "30s", "-root=/x"}).words,
      (Words{"--bird-live", "--felix-live", "--threshold-time=30s", "--root=/x"}));
}

TEST(GoFlags, TheLastOfANameCounts) {
  EXPECT_EQ(from_go_flags({"--bird-live=true", "-bird-ready=1", "-felix-live=false",
                           "--felix-ready=F", "-threshold-time=1s", "-threshold-time=2s"})
                .words,
            (Words{"--bird-live", "--bird-ready", "--threshold-time=2s"}));
  EXPECT_EQ(from_go_flags({"-bird-ready", "-bird-ready=false"}).words, Words());
  EXPECT_EQ(from_go_flags({"--expect", "a", "--expect", "b"}).words,
            (Words{"--expect=a", "--expect=b"}))
      << "but each of these";
}

TEST(GoFlags, TheFirstWordThatIsNoFlagEndsThem) {
  for (const char* end : {"extra", "-", "--"}) {
    const GoWords read = from_go_flags({"-bird-live", end, "-felix-live"});
    EXPECT_EQ(read.words, Words{"--bird-live"}) << end;
    EXPECT_EQ(read.error, "") << end;
  }
  EXPECT_EQ(from_go_flags({"-bird-live", "extra", "-felix-live"}).extra,
            (Words{"extra", "-felix-live"}));
}

TEST(GoFlags, ErrorsAreInGosWords) {
  const auto error = [](Words words) { return from_go_flags(words).error; };
  EXPECT_EQ(error({"-no-such"}), "flag provided but not defined: -no-such");
  EXPECT_EQ(error({"-bird-ready="}), "invalid boolean value \"\" for -bird-ready: parse error");
  EXPECT_EQ(error({"-threshold-time=30"}),
            "invalid value \"30\" for flag -threshold-time: parse error");
  EXPECT_EQ(error({"-threshold-time"}), "flag needs an argument: -threshold-time");
  EXPECT_EQ(error({"---x"}), "bad flag syntax: ---x");
  EXPECT_EQ(error({"-=x"}), "bad flag syntax: -=x");
  EXPECT_EQ(error({"-h"}), "flag: help requested");
}

/// What is not known here is taken for the real program's.
TEST(GoFlags, KnowEveryOptionOfTheVerb) {
  const Command program = command_table(observe::probe_kinds, "calico-health");
  const auto verb = std::ranges::find(program.commands, "calico-health", &Command::name);
  ASSERT_NE(verb, program.commands.end());
  for (const Option& option : verb->options) {
    const std::string flag = std::string("-").append(option.name);
    const bool value = !option.value.empty();
    const std::string given = value ? flag + "=1s" : flag;
    EXPECT_EQ(from_go_flags({given}).error, "") << given;
  }
}

TEST(GoInt, IsAtoi) {
  EXPECT_EQ(parse_go_int("9099"), 9099);
  EXPECT_EQ(parse_go_int("+9099"), 9099);
  EXPECT_EQ(parse_go_int("-1"), -1);
  for (const char* none : {"", "abc", " 9099", "1e3", "+-1", "+", "9099 "})
    EXPECT_FALSE(parse_go_int(none).has_value()) << none;
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

TEST(ProgramNames, StandForTheVerbWhenHealthIsAskedForAndNothingElse) {
  EXPECT_EQ(invocation("/bin/calico-node", {"-bird-live"}, "").words,
            (Words{"calico-health", "-bird-live"}));
  EXPECT_EQ(
      invocation("calico-node", {"-bird-ready", "-threshold-time", "30s", "extra"}, "").hand_over,
      "");
  EXPECT_EQ(invocation("calico", {"component", "node", "health", "--bird-live"}, "").words,
            (Words{"calico-health", "--bird-live"}));
  EXPECT_EQ(invocation("/usr/bin/wardmote", {"status"}, "").words, (Words{"status"}));
  EXPECT_EQ(invocation("/usr/bin/wardmote", {"status"}, "/x").hand_over, "");
}

/// The same program is Felix, confd, the start of the node and its preStop hook.
TEST(ProgramNames, HandEverythingElseOver) {
  for (const Words& words :
       {Words{"-felix"}, Words{"-confd"}, Words{"-shutdown"}, Words{"-startup"}, Words{"-v"},
        Words{}, Words{"-h"}, Words{"-felix", "-bird-ready"}, Words{"-bird-ready", "-felix"},
        Words{"-bird-ready=false"}, Words{"-bird-ready="}, Words{"-threshold-time", "-bird-ready"},
        Words{"status", "-bird-ready"}}) {
    const Invocation asked = invocation("/usr/bin/calico-node", words, "");
    EXPECT_EQ(asked.hand_over, "/usr/bin/calico-node.real");
    EXPECT_EQ(asked.words, words);
  }
  EXPECT_EQ(invocation("calico-node", {"-felix"}, "").hand_over, "/bin/calico-node.real");
  EXPECT_EQ(invocation("calico-node", {"-felix"}, "/opt/real").hand_over, "/opt/real");
  EXPECT_EQ(invocation("calico", {"component", "felix"}, "").hand_over, "/bin/calico.real");
  EXPECT_EQ(invocation("/bin/calico", {"component", "node", "health"}, "").hand_over,
            "/bin/calico.real");
}

}  // namespace
}  // namespace wardmote::cli
