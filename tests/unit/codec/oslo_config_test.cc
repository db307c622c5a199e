#include "codec/oslo_config.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"

namespace wardmote::codec {
namespace {

using Options = std::vector<OsloOption>;
using Lines = std::vector<std::size_t>;

OsloConfig read(std::string_view text) {
  const Result<OsloConfig> config = parse_oslo_config(text);
  EXPECT_TRUE(config);
  return config.value_or(OsloConfig{});
}

/// As oslo_config/iniparser.py reads it.
TEST(OsloConfig, GroupsOptionsAndComments) {
  const OsloConfig config = read(
      "# a comment\n"
      "[DEFAULT]\n"
      "a=1\n"
      "  \n"
      "b : two words\r\n"
      "; another\n"
      "[keystone]\n"
      "auth_url = http://10.0.0.1:5000/v3\n"
      "c==d\n");
  EXPECT_EQ(config.options, (Options{{"DEFAULT", "a", "1", 3},
                                     {"DEFAULT", "b", "two words", 5},
                                     {"keystone", "auth_url", "http://10.0.0.1:5000/v3", 8},
                                     {"keystone", "c", "=d", 9}}));
  EXPECT_EQ(config.broken, Lines{});
}

TEST(OsloConfig, QuotesAroundAValueAreNotOfIt) {
  const OsloConfig config =
      read("[g]\na=\"x y\"\nb='z'\nc=\"half\nd=\"\ne=''\nf=\"mixed'\ng=x\"y\"\nh=ava\n");
  std::vector<std::string> values;
  for (const OsloOption& option : config.options) values.push_back(option.value);
  EXPECT_EQ(values, (std::vector<std::string>{"x y", "z", "\"half", "\"", "", "\"mixed'", "x\"y\"",
                                              "ava"}));
}

TEST(OsloConfig, ALineThatBeginsWithABlankContinuesTheOne) {
  EXPECT_EQ(read("[g]\na=1\n  2\n\t3 \n").options, (Options{{"g", "a", "1 2 3", 2}}));
  // An empty line, a comment, a group or a broken line ends it.
  for (const std::string_view end : {"\n", "#\n", ";\n", "[g]\n", "broken\n"}) {
    const OsloConfig config = read("[g]\na=1\n" + std::string(end) + " 2\n");
    EXPECT_EQ(config.options, (Options{{"g", "a", "1", 2}})) << end;
    EXPECT_EQ(config.broken.back(), 4U) << end;
  }
  EXPECT_EQ(read(" 1\n").broken, Lines{1});
}

TEST(OsloConfig, WhatIsNoOptionIsCountedAndPassedOver) {
  EXPECT_EQ(read("a=1\n[g]\n").broken, Lines{1}) << "it is in no group";
  EXPECT_EQ(read("[g]\nno sign\n=1\n[]\n[open\na=1\n").broken, (Lines{2, 3, 4, 5}));
  // What follows still belongs to the group before.
  EXPECT_EQ(read("[g]\n[open\na=1\n").options, (Options{{"g", "a", "1", 3}}));
  EXPECT_EQ(read("").options, Options{});
}

TEST(OsloConfig, TheLastOfANameCounts) {
  const OsloConfig config = read("[a]\nx=1\n[b]\nx=2\n[a]\nx=3\ny=4\n");
  const OsloOption* const found = find_option(config, "a", "x");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value, "3");
  EXPECT_EQ(find_option(config, "b", "x")->value, "2");
  EXPECT_EQ(find_option(config, "b", "y"), nullptr);
  EXPECT_EQ(find_option(config, "c", "x"), nullptr);
}

TEST(OsloConfig, ALongFileIsRefused) {
  EXPECT_TRUE(parse_oslo_config(std::string(kLargestOsloConfig, '#')));
  EXPECT_EQ(parse_oslo_config(std::string(kLargestOsloConfig + 1, '#')).error().code, Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
