#include "codec/qga.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

TEST(Qga, APingIsAnsweredWithAnEmptyReturn) {
  const auto reply = parse_qga_reply("{\"return\": {}}");
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->refusal);
}

// qemu-ga 7.2 behind a raw socket: 0xFF before the reply to guest-sync-delimited.
TEST(Qga, TheMarkOfADelimitedSyncIsPassedOver) {
  const auto reply = parse_qga_reply("\xFF{\"return\": 4711}\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->number, 4711);
}

TEST(Qga, ARefusalIsAnAnswerToo) {
  const auto flushed = parse_qga_reply(
      "{\"error\": {\"class\": \"GenericError\", \"desc\": \"JSON parse error, stray "
      "'\\uFFFD'\"}}\n");
  ASSERT_TRUE(flushed);
  ASSERT_TRUE(flushed->refusal);
  EXPECT_EQ(flushed->refusal->error_class, "GenericError");
  const auto blocked = parse_qga_reply(
      R"({"error": {"class": "CommandNotFound", "desc": "Command guest-ping has been disabled"}})");
  ASSERT_TRUE(blocked);
  EXPECT_EQ(blocked->refusal->error_class, "CommandNotFound");
}

TEST(Qga, ATextIsThatOfTheFreezeStatus) {
  EXPECT_EQ(parse_qga_reply(R"({"return": "frozen"})")->text, "frozen");
}

TEST(Qga, WhatIsNoReplyIsRefused) {
  for (const std::string_view bad :
       {"", "{", "[]", "{}", "7", "{\"return\"", "{\"error\": 7}",
        "{\"return\": {}}{\"return\": {}}", "{\"returned\": {}}", "\xFF", "\xFF\xFF{"}) {
    EXPECT_FALSE(parse_qga_reply(bad)) << bad;
  }
  std::string deep(1000, '[');
  EXPECT_FALSE(parse_qga_reply("{\"return\": " + deep + "}"));
  EXPECT_EQ(parse_qga_reply(std::string(kLongestQgaReply + 1, ' ')).error().code, Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
