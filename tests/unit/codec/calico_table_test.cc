#include "codec/calico_table.h"

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

using Step = CalicoTable::Step;
using Query = CalicoTable::Query;

constexpr std::string_view kHeadings = "2002-name     proto    table    state  since       info";

/// What Calico makes of one row.
std::vector<CalicoPeer> peers_of(std::string_view row, bool ipv6 = false) {
  CalicoTable table(Query::kPeers, ipv6);
  EXPECT_EQ(table.read(std::string(" ").append(row)), Step::kMore);
  return table.peers();
}

/// The table of Calico's own tests (calicoctl and node/pkg/status), B1 to B10.
TEST(CalicoTable, RowsOfCalicosOwnTests) {
  EXPECT_TRUE(peers_of("kernel1  Kernel   master   up     2016-11-21").empty()) << "B1";
  EXPECT_TRUE(peers_of("Meshd_172_17_8_102 BGP master up 2016-11-21 Established").empty()) << "B2";
  EXPECT_EQ(peers_of("Mesh_172_17_8_102 BGP      master   up     2016-11-21  Established"),
            (std::vector<CalicoPeer>{{"172.17.8.102", "Established"}}))
      << "B3";
  EXPECT_EQ(
      peers_of("Node_172_17_80_102 BGP      master   up     2016-11-21  Active    Socket: error"),
      (std::vector<CalicoPeer>{{"172.17.80.102", "Active"}}))
      << "B4";
  EXPECT_EQ(peers_of("Global_172_17_8_133 BGP master down 2016-11-2 Failed"),
            (std::vector<CalicoPeer>{{"172.17.8.133", "Failed"}}))
      << "B5";
  EXPECT_EQ(peers_of("Mesh_2001_20__8 BGP      master   up     2016-11-21  Established", true),
            (std::vector<CalicoPeer>{{"2001:20::8", "Established"}}))
      << "B9";
}

TEST(CalicoTable, UnicodeBlanksPartWords) {
  EXPECT_EQ(peers_of("Mesh_10_0_0_1\u00a0BGP\u0085master\u2003up 07:54:13 Established"),
            (std::vector<CalicoPeer>{{"10.0.0.1", "Established"}}));
}

TEST(CalicoTable, EndsAtTheFirstLineThatBeginsLikeTheEnd) {
  CalicoTable table(Query::kPeers, false);
  EXPECT_EQ(table.read("0001 BIRD 1.5.0 ready."), Step::kMore);
  EXPECT_EQ(table.read(kHeadings), Step::kMore);
  EXPECT_EQ(table.read("1002-kernel1  Kernel   master   up     2016-11-21"), Step::kMore);
  EXPECT_EQ(table.read(" Mesh_172_17_8_102 BGP master up 2016-11-21 Established"), Step::kMore);
  EXPECT_EQ(table.read(" Node_172_17_8_103 BGP master up 2016-11-21 Established"), Step::kMore);
  EXPECT_EQ(table.read(" Global_172_17_8_104 BGP master up 2016-11-21 Established"), Step::kMore);
  EXPECT_EQ(table.read("0000 We never get here"), Step::kDone);
  EXPECT_EQ(table.peers().size(), 3U) << "B6";
}

TEST(CalicoTable, OtherHeadingsAndOtherLinesAreErrors) {
  CalicoTable foo(Query::kPeers, false);
  EXPECT_EQ(foo.read("2002-name     proto    table    state  foo       info"), Step::kError)
      << "B7";
  EXPECT_EQ(foo.error(), "unknown BIRD table output format");
  CalicoTable code(Query::kPeers, false);
  EXPECT_EQ(code.read("9000"), Step::kError) << "B8";
  EXPECT_EQ(code.error(), "unexpected output line from BIRD: '9000'");
}

TEST(CalicoTable, ShortCodesWouldHavePanicked) {
  for (const char* line : {"2002", "1002"}) {
    CalicoTable table(Query::kPeers, false);
    EXPECT_EQ(table.read(line), Step::kPanic) << line;
  }
}

TEST(CalicoTable, AStatusTellsAGracefulRestart) {
  CalicoTable table(Query::kRestart, false);
  for (const char* line :
       {"0001 BIRD v0.3.3+birdv1.6.8 ready.", "1000-BIRD v0.3.3+birdv1.6.8",
        "1011-Router ID is 172.17.0.3", " Current server time is 2018-12-27 12:15:01"})
    EXPECT_EQ(table.read(line), Step::kMore);
  EXPECT_EQ(table.read("0024-Graceful restart recovery in progress"), Step::kDone);
  EXPECT_TRUE(table.restarting());
  CalicoTable quiet(Query::kRestart, false);
  EXPECT_EQ(quiet.read("0013 Daemon is up and running"), Step::kDone) << "B10";
  EXPECT_FALSE(quiet.restarting());
}

TEST(GoLines, AreCutAsTheScannerDoes) {
  GoLines lines;
  lines.add("a\r\nb\n\nhalf");
  EXPECT_EQ(lines.next(), "a");
  EXPECT_EQ(lines.next(), "b");
  EXPECT_EQ(lines.next(), "");
  EXPECT_FALSE(lines.next().has_value());
  lines.end();
  EXPECT_EQ(lines.next(), "half") << "the end of the stream ends a line";
  EXPECT_FALSE(lines.next().has_value());
}

TEST(GoLines, HaveACap) {
  GoLines lines;
  lines.add(std::string(70'000, 'x'));
  EXPECT_FALSE(lines.next().has_value());
  EXPECT_TRUE(lines.too_long());
}

}  // namespace
}  // namespace wardmote::codec
