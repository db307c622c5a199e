#include "runtime/endpoint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace wardmote::runtime {
namespace {

TEST(Endpoint, EverySpellingThatUsersWrite) {
  EXPECT_EQ(parse_endpoint("unix:/run/ovn/ovnnb_db.sock"),
            Endpoint::unix_socket("/run/ovn/ovnnb_db.sock"));
  EXPECT_EQ(parse_endpoint("/run/ovn/ovnnb_db.sock"),
            Endpoint::unix_socket("/run/ovn/ovnnb_db.sock"));
  EXPECT_EQ(parse_endpoint("tcp:10.0.0.1:6641"), Endpoint::tcp("10.0.0.1", 6641));
  EXPECT_EQ(parse_endpoint("10.0.0.1:6641"), Endpoint::tcp("10.0.0.1", 6641));
  EXPECT_EQ(parse_endpoint("tcp:[::1]:6641"), Endpoint::tcp("::1", 6641));
  EXPECT_EQ(parse_endpoint("[fe80::1%eth0]:80"), Endpoint::tcp("fe80::1%eth0", 80));
  EXPECT_EQ(parse_endpoint("ctl-1.example.org:6641"), Endpoint::tcp("ctl-1.example.org", 6641));
}

TEST(Endpoint, WhatIsWrongIsInvalidAndNamed) {
  for (const std::string text : {"",
                                 "unix:",
                                 "tcp:",
                                 "10.0.0.1",
                                 "10.0.0.1:",
                                 "10.0.0.1:0",
                                 "10.0.0.1:65536",
                                 "h:-1",
                                 "h: 1",
                                 ":80",
                                 "[]:80",
                                 "::1:80",
                                 "tcp:fe80::1:80",
                                 "ssl:10.0.0.1",
                                 "ssl:/run/x.sock",
                                 "tls:10.0.0.1:6641",
                                 "host name:80",
                                 "h\n:80",
                                 "[::1:80",
                                 "::1]:80",
                                 "[10.0.0.1]x:80",
                                 "unix:relative\nname"}) {
    const Result<Endpoint> parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed) << text << " became " << to_string(*parsed);
    EXPECT_EQ(parsed.error().code, Errc::kInvalid) << text;
  }
  EXPECT_TRUE(parse_endpoint("tls:10.0.0.1:6641").error().context.contains("tcp: or ssl:"));
  EXPECT_TRUE(parse_endpoint("run/bird.ctl").error().context.contains("begins with / or unix:"));
  EXPECT_FALSE(parse_endpoint("/" + std::string(107, 'x')));
  EXPECT_TRUE(parse_endpoint("/" + std::string(106, 'x')));
}

TEST(Endpoint, TlsBeginsWithSslAndItsSettingsAreNoPartOfTheSpelling) {
  const Endpoint parsed = parse_endpoint("ssl:[fd00::1]:6641").value();
  EXPECT_EQ(parsed.kind, Endpoint::Kind::kTls);
  EXPECT_EQ(parsed.host, "fd00::1");
  const Endpoint one = Endpoint::tls_over_tcp("fd00::1", 6641, {.ca = "/etc/ca.pem"});
  const Endpoint same = Endpoint::tls_over_tcp("fd00::1", 6641, {.ca = "/etc/ca.pem"});
  EXPECT_EQ(to_string(one), "ssl:[fd00::1]:6641");
  EXPECT_EQ(one, same);
  EXPECT_NE(one, parsed);
  EXPECT_NE(one, Endpoint::tcp("fd00::1", 6641));
}

RC_GTEST_PROP(Endpoint, ItsOwnSpellingIsAccepted, ()) {
  const auto host = *rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc019.-"))));
  const auto port = *rc::gen::inRange(1, 65536);
  const Endpoint tcp = Endpoint::tcp(host, static_cast<std::uint16_t>(port));
  RC_ASSERT(parse_endpoint(to_string(tcp)).value() == tcp);
  Endpoint tls = tcp;
  tls.kind = Endpoint::Kind::kTls;
  RC_ASSERT(parse_endpoint(to_string(tls)).value() == tls);
  const Endpoint unix_socket = Endpoint::unix_socket("/" + host);
  RC_ASSERT(parse_endpoint(to_string(unix_socket)).value() == unix_socket);
}

RC_GTEST_PROP(Endpoint, NoTextCrashesIt, (const std::string& text)) {
  const Result<Endpoint> parsed = parse_endpoint(text);
  if (parsed) RC_ASSERT(parse_endpoint(to_string(*parsed)).value() == *parsed);
}

}  // namespace
}  // namespace wardmote::runtime
