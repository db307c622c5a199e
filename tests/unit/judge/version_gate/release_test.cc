// Metropolis, version/version.go: Release() prints `M.m.p`; a release compares by its numbers only.
#include "judge/version_gate/release.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"

namespace wardmote::judge::version_gate {
namespace {

TEST(GateRelease, IsReadAndPrinted) {
  for (const std::string text : {"0.0.0", "0.1.0", "1.20.2", "10000.0.0", "22.3.9"}) {
    const Result<Release> release = parse_release(text);
    ASSERT_TRUE(release.has_value()) << text;
    EXPECT_EQ(to_string(*release), text);
  }
}

TEST(GateRelease, ComparesNumbersAndNotText) {
  const auto release = [](const char* text) { return parse_release(text).value(); };
  EXPECT_LT(release("0.0.2"), release("0.0.10"));
  EXPECT_LT(release("0.9.9"), release("0.10.0"));
  EXPECT_LT(release("1.99.99"), release("2.0.0"));
  EXPECT_EQ(Release(), release("0.0.0"));
}

TEST(GateRelease, OfAVersionOnlyTheReleaseCounts) {
  const Release expected{.major = 0, .minor = 1, .patch = 0};
  for (const char* text :
       {"0.1.0-dev4.g0123abcd.dirty", "0.1.0-g0123abcd", "0.1.0-dirty", "0.1.0-nostamp", "v0.1.0",
        "0.1.0+build", "0.1.0+rc-1.x", "0.1.0-dev4.g0123abcd+build"})
    EXPECT_EQ(parse_release(text).value(), expected) << text;
}

TEST(GateRelease, APreReleaseIsNotTakenForTheFinalOne) {
  for (const char* text : {"1.4.0-rc.1", "1.4.0-rc1", "1.4.0-alpha", "1.4.0-0", "1.4.0-dev",
                           "1.4.0-devel.1", "1.4.0-g", "1.4.0-gxyz", "1.4.0-nostamp.rc1",
                           "1.4.0-dirty.rc1", "1.4.0-dev4.", "v1.4.0-beta.2+build"}) {
    const Result<Release> release = parse_release(text);
    ASSERT_FALSE(release.has_value()) << text;
    EXPECT_NE(release.error().context.find("pre-release"), std::string::npos) << text;
  }
}

TEST(GateRelease, WhatIsBeforeOneIsBeforeItAndBehindAllOthers) {
  const auto release = [](const char* text) { return parse_release(text).value(); };
  EXPECT_EQ(before(release("1.4.2")), release("1.4.1"));
  EXPECT_LT(before(release("1.4.0")), release("1.4.0"));
  EXPECT_GT(before(release("1.4.0")), release("1.3.999999"));
  EXPECT_LT(before(release("2.0.0")), release("2.0.0"));
  EXPECT_GT(before(release("2.0.0")), release("1.999999.0"));
  EXPECT_LT(before(Release()), Release());
  EXPECT_EQ(to_string(before(release("1.4.0"))), "below 1.4.0");
  EXPECT_EQ(to_string(before(release("2.0.0"))), "below 2.0.0");
  EXPECT_EQ(to_string(before(Release())), "below 0.0.0");
}

TEST(GateRelease, AnythingElseIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("1"), std::string("1.2"), std::string("1.2.3.4"),
        std::string("1..3"), std::string("1.2."), std::string(".1.2"), std::string("1.2.3-"),
        std::string("1.2.-3"), std::string("-1.2.3"), std::string("1.2.x"), std::string("1.2.3 "),
        std::string("1.2.9223372036854775808"), std::string("vv1.2.3"), std::string("1.2.3-a\n"),
        std::string("1.2.3+"), std::string("1.2.3+a+b"), "1.2.3-" + std::string(300, 'a')}) {
    const Result<Release> release = parse_release(text);
    ASSERT_FALSE(release.has_value()) << text;
    EXPECT_EQ(release.error().code, Errc::kInvalid);
  }
}

}  // namespace
}  // namespace wardmote::judge::version_gate
