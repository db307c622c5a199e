// The beginning of database files, as ovsdb-tool of OVS 3.1 writes them.
#include "codec/ovsdb_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace wardmote::codec {
namespace {

constexpr std::string_view kLine = "OVSDB CLUSTER 13863 eb66b7fc1bece85d32afa5020a3ad08b3aba8fce\n";
constexpr std::string_view kHeader =
    R"({"prev_eid":"03fbabad-fd7e-4ca8-890a-07298cdad731",)"
    R"("cluster_id":"dbb67c9b-7526-41dd-bbbb-ee12d07b7124","name":"OVN_Southbound","prev_term":1,)"
    R"("prev_data":[{"cksum":"4078371916 30328","name":"not this","tables":{"T":{"columns":)"
    R"({"server_id":{"type":"string"},"x":{"key":"\"server_id\":\"no\""}}}}},{}],)"
    R"("prev_servers":{"50236129-db77-4ec9-a972-015d2928592c":"unix:/tmp/sb.raft"},)"
    R"("server_id":"50236129-db77-4ec9-a972-015d2928592c","prev_index":1,)"
    R"("local_address":"tcp:10.0.0.1:6644"})";

Result<OvsdbRaftHeader> read(std::string_view text, std::size_t step) {
  OvsdbHeaderReader reader;
  for (std::size_t at = 0; at < text.size(); at += step) {
    const Result<void> fed = reader.feed(text.substr(at, step));
    if (!fed) return std::unexpected(fed.error());
  }
  return reader.header();
}

TEST(OvsdbFile, TheFirstLineSaysWhichKindItIs) {
  const auto clustered = parse_ovsdb_record(kLine);
  ASSERT_TRUE(clustered);
  EXPECT_TRUE(clustered->clustered);
  EXPECT_EQ(clustered->bytes, 13863U);
  EXPECT_EQ(clustered->line, kLine.size());
  const auto alone =
      parse_ovsdb_record("OVSDB JSON 14445 3828b0e1ab6c26c0b08dec37b380f52a9c7ddc55\n{");
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->clustered);
}

TEST(OvsdbFile, WhatIsNoDatabaseIsRefused) {
  for (const std::string_view text :
       {"", "OVSDB", "OVSDB CLUSTER 12", "hello\n", "OVSDB FOO 12 aa\n", "OVSDB CLUSTER x y\n",
        "OVSDB CLUSTER 12 short\n", "\n"}) {
    EXPECT_EQ(parse_ovsdb_record(text).error().code, Errc::kProtocol) << text;
  }
}

TEST(OvsdbFile, TheServerIsFoundBehindTheSnapshotInWhateverPiecesItComes) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, kHeader.size()}) {
    const auto header = read(kHeader, step);
    ASSERT_TRUE(header) << step;
    EXPECT_EQ(header->name, "OVN_Southbound");
    EXPECT_EQ(header->server_id, "50236129-db77-4ec9-a972-015d2928592c");
    EXPECT_EQ(header->cluster_id, "dbb67c9b-7526-41dd-bbbb-ee12d07b7124");
    EXPECT_EQ(header->local_address, "tcp:10.0.0.1:6644");
    EXPECT_FALSE(header->joining);
  }
}

TEST(OvsdbFile, AServerThatHasStillToJoinNamesWhereItAsks) {
  const auto header =
      read(R"({"server_id":"a","local_address":"tcp:10.0.0.2:6644","name":"OVN_Southbound",)"
           R"("remote_addresses":["tcp:10.0.0.1:6644"]})",
           5);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->joining);
  EXPECT_EQ(header->cluster_id, "");
}

TEST(OvsdbFile, ACutOrNamelessRecordIsNoHeader) {
  for (std::size_t cut = 0; cut < kHeader.size(); ++cut)
    EXPECT_FALSE(read(kHeader.substr(0, cut), 64)) << cut;
  EXPECT_FALSE(read("{}", 1));
  EXPECT_FALSE(read("[1]", 1));
  EXPECT_FALSE(read(R"({"server_id":"a"})", 3)) << "without a name";
  EXPECT_EQ(read("{" + std::string(100, '['), 8).error().code, Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
