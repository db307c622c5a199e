#include "cli/assess_plan.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;
using observe::ovn::MemberTarget;
using runtime::Endpoint;

const Command kCommand{.name = "ovn", .summary = ""};

Result<AssessPlan> plan(Call::Values values) {
  values.try_emplace("db", std::vector<std::string>{"OVN_Southbound"});
  values.try_emplace("member", std::vector<std::string>{"a=/run/a.ctl"});
  return assess_plan(Call({&kCommand}, std::move(values)));
}

TEST(AssessPlan, ReadsMembersWithAndWithoutOvsdb) {
  const MemberTarget one = parse_member("a=/run/x=y.ctl", "DB").value();
  EXPECT_EQ(one.name, "a");
  EXPECT_EQ(one.database, "DB");
  EXPECT_EQ(one.control, Endpoint::unix_socket("/run/x=y.ctl"));
  EXPECT_EQ(one.ovsdb, std::nullopt);
  EXPECT_EQ(parse_member("a=/run/a.ctl,tcp:[::1]:6641", "DB")->ovsdb, Endpoint::tcp("::1", 6641));
  for (const char* text : {"", "a", "a=", "=x", "a=,unix:/x", "a=x", "a=/x,y"}) {
    EXPECT_FALSE(parse_member(text, "DB").has_value()) << text;
  }
}

TEST(AssessPlan, AMemberElsewhereIsAskedAtItsPortAlone) {
  const MemberTarget remote = parse_member("a=tcp:10.0.0.2:6641", "OVN_IC_Southbound").value();
  EXPECT_EQ(remote.control, std::nullopt);
  EXPECT_EQ(remote.ovsdb, Endpoint::tcp("10.0.0.2", 6641));
  EXPECT_FALSE(parse_member("a=tcp:10.0.0.2:6641,/run/a.sock", "DB").has_value());
}

TEST(AssessPlan, LooksOnceUnlessToldOtherwise) {
  const AssessPlan once = plan({}).value();
  EXPECT_EQ(once.total, 0s);
  EXPECT_EQ(once.every, 1s);
  EXPECT_EQ(once.timeout, 900ms);
  EXPECT_EQ(once.expectation.database, "OVN_Southbound");
  EXPECT_EQ(plan({{"for", {"20s"}}})->total, 20s);
  EXPECT_EQ(plan({{"replicas", {"3"}}, {"expect", {"tcp:a:1", "tcp:b:1"}}})->expectation.replicas,
            3U);
}

TEST(AssessPlan, SaysWhichOptionIsWrong) {
  EXPECT_EQ(plan({{"member", {"a=/x", "a=/y"}}}).error().context, "--member: two are named 'a'");
  for (const char* option : {"for", "every", "timeout", "replicas"}) {
    EXPECT_TRUE(plan({{option, {"soon"}}}).error().context.starts_with(std::string("--") + option))
        << option;
  }
  EXPECT_FALSE(plan({{"replicas", {"-1"}}}).has_value());
  EXPECT_FALSE(plan({{"every", {"0s"}}}).has_value());
  EXPECT_FALSE(plan({{"timeout", {"0s"}}}).has_value());
}

}  // namespace
}  // namespace wardmote::cli
