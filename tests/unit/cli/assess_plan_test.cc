#include "cli/assess_plan.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;

const Command kCommand{.name = "ovn", .summary = ""};

Result<AssessPlan> plan(Call::Values values) {
  values.try_emplace("db", std::vector<std::string>{"OVN_Southbound"});
  values.try_emplace("member", std::vector<std::string>{"a=/run/a.ctl"});
  return assess_plan(Call({&kCommand}, std::move(values)));
}

TEST(AssessPlan, ReadsMembersWithAndWithoutOvsdb) {
  EXPECT_EQ(parse_member_spec("a=/run/a.ctl"), (MemberSpec{"a", "/run/a.ctl", ""}));
  EXPECT_EQ(parse_member_spec("a=/run/a.ctl,tcp:[::1]:6641"), (MemberSpec{"a", "/run/a.ctl", "tcp:[::1]:6641"}));
  EXPECT_EQ(parse_member_spec("a=/run/x=y.ctl"), (MemberSpec{"a", "/run/x=y.ctl", ""}));
  for (const char* text : {"", "a", "a=", "=x", "a=,unix:/x"}) {
    EXPECT_FALSE(parse_member_spec(text).has_value()) << text;
  }
}

TEST(AssessPlan, LooksOnceUnlessToldOtherwise) {
  const AssessPlan once = plan({}).value();
  EXPECT_EQ(once.total, 0s);
  EXPECT_EQ(once.every, 1s);
  EXPECT_EQ(once.timeout, 900ms);
  EXPECT_EQ(once.expectation.database, "OVN_Southbound");
  EXPECT_EQ(plan({{"for", {"20s"}}})->total, 20s);
  EXPECT_EQ(plan({{"replicas", {"3"}}, {"expect", {"tcp:a:1", "tcp:b:1"}}})->expectation.replicas, 3U);
}

TEST(AssessPlan, SaysWhichOptionIsWrong) {
  EXPECT_EQ(plan({{"member", {"a=/x", "a=/y"}}}).error().context, "--member: two are named 'a'");
  for (const char* option : {"for", "every", "timeout", "replicas"}) {
    EXPECT_TRUE(plan({{option, {"soon"}}}).error().context.starts_with(std::string("--") + option)) << option;
  }
  EXPECT_FALSE(plan({{"replicas", {"-1"}}}).has_value());
  EXPECT_FALSE(plan({{"every", {"0s"}}}).has_value());
  EXPECT_FALSE(plan({{"timeout", {"0s"}}}).has_value());
}

}  // namespace
}  // namespace wardmote::cli
