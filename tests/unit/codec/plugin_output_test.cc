#include "codec/plugin_output.h"

#include <gtest/gtest.h>

#include <string>

namespace wardmote::codec {
namespace {

using Values = std::vector<PluginValue>;

/// The examples of the Monitoring Plugins Development Guidelines, and what check_ping prints.
TEST(PluginOutput, TextAndValues) {
  const PluginOutput disk = parse_plugin_output(
      "DISK OK - free space: / 3326 MB (56%);|/=2643MB;5948;5958;0;5968\n"
      "/ 15272 MB (77%);\n/var/log 819 MB (84%); | /boot=68MB;88;93;0;98\n"
      "/home=69357MB;253404;253409;0;253414\n");
  EXPECT_EQ(disk.text, "DISK OK - free space: / 3326 MB (56%);");
  EXPECT_EQ(disk.values, (Values{{"/", 2643, "MB"}, {"/boot", 68, "MB"}, {"/home", 69357, "MB"}}));
  const PluginOutput ping = parse_plugin_output(
      "PING OK - Packet loss = 0%, RTA = 0.80 ms|rta=0.804000ms;3000.0;5000.0;0.0 pl=0%;80;100;0");
  EXPECT_EQ(ping.values, (Values{{"rta", 0.804, "ms"}, {"pl", 0, "%"}}));
}

TEST(PluginOutput, LabelsInQuotes) {
  EXPECT_EQ(parse_plugin_output("x|'a b'=1c 'it''s'=2").values,
            (Values{{"a b", 1, "c"}, {"it's", 2, ""}}));
}

TEST(PluginOutput, WhatIsNoValueIsLeftOut) {
  EXPECT_TRUE(parse_plugin_output("").text.empty());
  EXPECT_EQ(parse_plugin_output("x|a=U b=3 =4 'c=5 d").values, (Values{{"b", 3, ""}}));
  EXPECT_TRUE(parse_plugin_output("x|a=inf b=nan c=1e999").values.empty());
  const std::string longest(128, 'a');
  EXPECT_EQ(parse_plugin_output("x|" + longest + "=1").values, (Values{{longest, 1, ""}}));
  EXPECT_TRUE(parse_plugin_output("x|a" + longest + "=1").values.empty());
  std::string many = "x|";
  for (int i = 0; i < 1000; ++i) many += "v" + std::to_string(i) + "=1 ";
  EXPECT_EQ(parse_plugin_output(many).values.size(), 64U);
}

}  // namespace
}  // namespace wardmote::codec
