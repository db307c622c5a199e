#include "codec/qga.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

TEST(Qga, FileSystemsAreFrozenOrThawedOrNobodyKnows) {
  EXPECT_EQ(parse_freeze_status(R"({"return": "frozen"})"), true);
  EXPECT_EQ(parse_freeze_status(R"({"return": "thawed"})"), false);
  EXPECT_FALSE(parse_freeze_status(R"({"return": "melted"})"));
  EXPECT_FALSE(parse_freeze_status(R"({"return": {}})"));
  EXPECT_EQ(
      parse_freeze_status(R"({"error": {"class": "CommandNotFound", "desc": "no"}})").error().code,
      Errc::kRejected);
}

// guest-get-time and guest-get-fsinfo of qemu-ga 7.2 (qga/qapi-schema.json).
TEST(Qga, ItsTimeIsInNanosecondsSince1970) {
  EXPECT_EQ(parse_guest_time(R"({"return": 1764039600123456789})"),
            std::chrono::nanoseconds(1764039600123456789));
  for (const char* const bad : {R"({"return": -1})", R"({"return": 1e300})", R"({"return": "1"})",
                                R"({"return": 99999999999999999999})", "{}", ""}) {
    EXPECT_FALSE(parse_guest_time(bad)) << bad;
  }
}

TEST(Qga, FileSystemsAndHowFullTheyAre) {
  const auto all = parse_fsinfo(
      R"({"return": [{"name": "loop0", "total-bytes": 4046848, "mountpoint": "/srv", "disk": [],)"
      R"( "used-bytes": 24576, "type": "ext2"}, {"name": "sr0", "mountpoint": "/cd", "disk": [],)"
      R"( "type": "iso9660"}, 7]})");
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (std::vector<QgaFileSystem>{{"/srv", "ext2", 24576, 4046848},
                                              {"/cd", "iso9660", 0, 0}}));
  EXPECT_EQ(parse_fsinfo(R"({"return": []})")->size(), 0U);
  EXPECT_FALSE(parse_fsinfo(R"({"return": {}})"));
  const auto odd = parse_fsinfo(R"({"return": [{"used-bytes": -4, "total-bytes": "x"}]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ((*odd)[0], QgaFileSystem());
}

TEST(Qga, NoMoreThan64FileSystemsAreRead) {
  std::string many = R"({"return": [{})";
  for (int i = 0; i < 200; ++i) many += ",{}";
  EXPECT_EQ(parse_fsinfo(many + "]}")->size(), 64U);
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
