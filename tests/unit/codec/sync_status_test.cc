// What ovsdb-server says of its replication, in the words of OVS 3.1 (captured) and 3.3.
#include "codec/sync_status.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

using Link = SyncStatus::Link;

TEST(SyncStatusCodec, AnActiveServerOfOvs31NamesNoDatabase) {
  const auto status = sync_status_of("state: active\n", "OVN_Northbound");
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->active);
  EXPECT_EQ(status->link, Link::kNone);
}

TEST(SyncStatusCodec, ABackupOfOvs31) {
  const auto status =
      sync_status_of("state: backup\nreplicating: tcp:127.0.0.11:6641\ndatabase: OVN_Northbound\n",
                     "OVN_Northbound");
  ASSERT_TRUE(status);
  EXPECT_EQ(*status,
            (SyncStatus{"OVN_Northbound", false, Link::kReplicating, "tcp:127.0.0.11:6641"}));
}

TEST(SyncStatusCodec, ABackupThatIsNotConnected) {
  const auto status =
      sync_status_of("state: backup\nconnecting: tcp:192.0.2.254:6641\n", "OVN_Northbound");
  ASSERT_TRUE(status);
  EXPECT_FALSE(status->active);
  EXPECT_EQ(status->link, Link::kConnecting);
  EXPECT_EQ(status->source, "tcp:192.0.2.254:6641");
}

TEST(SyncStatusCodec, TheDatabaseComesFirstSinceOvs33) {
  const auto status =
      sync_status_of("database: OVN_Southbound\nstate: backup\nconnecting: ssl:[fd00::1]:6642\n",
                     "OVN_Southbound");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->source, "ssl:[fd00::1]:6642");
}

TEST(SyncStatusCodec, SeveralDatabasesOfOneServer) {
  constexpr std::string_view kText =
      "database: OVN_IC_Northbound\nstate: active\n\ndatabase: OVN_Northbound\nstate: backup\n"
      "replicating: tcp:10.0.0.1:6641\nexclude: OVN_Northbound:SSL\n";
  const auto all = parse_sync_status(kText);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_TRUE(sync_status_of(kText, "OVN_IC_Northbound")->active);
  EXPECT_FALSE(sync_status_of(kText, "OVN_Northbound")->active);
  EXPECT_EQ(sync_status_of(kText, "OVN_Southbound").error().code, Errc::kMissing);
}

TEST(SyncStatusCodec, FailedAndLostReplication) {
  EXPECT_EQ(sync_status_of("state: backup\nReplication to (tcp:1.2.3.4:5) failed\n", "X")->link,
            Link::kFailed);
  const auto lost = sync_status_of("state: backup\nnot connected to tcp:1.2.3.4:5\n", "X");
  EXPECT_EQ(lost->link, Link::kLost);
  EXPECT_EQ(lost->source, "tcp:1.2.3.4:5");
}

TEST(SyncStatusCodec, AnAnswerWithoutAStateIsNoAnswer) {
  for (const std::string_view text :
       {"", "\n", "database: OVN_Northbound\n", "state: \n", "state: broken\n", "active",
        "state: active\n\ndatabase: X\n"})
    EXPECT_FALSE(parse_sync_status(text)) << text;
}

TEST(SyncStatusCodec, WhatIsWrittenIsReadBack) {
  const std::vector<SyncStatus> all = {
      {"A", true, Link::kNone, ""},
      {"B", false, Link::kConnecting, "tcp:1.2.3.4:5"},
      {"C", false, Link::kFailed, "tcp:1.2.3.4:5"},
      {"D", false, Link::kLost, "ssl:[::1]:5"},
  };
  EXPECT_EQ(parse_sync_status(format(all)).value(), all);
  EXPECT_TRUE(format(all).starts_with("database: A\nstate: active\n\ndatabase: B\n"))
      << "with a line between them";
}

}  // namespace
}  // namespace wardmote::codec
