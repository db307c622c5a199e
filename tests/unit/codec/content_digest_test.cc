// The content of a database as one number, whatever way it was reached.
#include "codec/content_digest.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

struct Message {
  explicit Message(const std::string& text)
      : document(boost::json::parse(text)), rpc(*classify(document)) {}
  boost::json::value document;
  RpcMessage rpc;
};

ContentTracker begun(const std::string& tables) {
  const Message reply(R"({"id":1,"error":null,"result":)" + tables + "}");
  ContentTracker tracker;
  EXPECT_TRUE(tracker.begin(reply.rpc));
  return tracker;
}

Result<bool> update(ContentTracker& tracker, const std::string& tables) {
  const Message notice(R"({"id":null,"method":"update","params":["content",)" + tables + "]}");
  return tracker.apply(notice.rpc);
}

TEST(ContentDigest, TheOrderInWhichRowsComeDoesNotMatter) {
  const ContentTracker one = begun(R"({"T":{"u1":{"new":{"a":1}},"u2":{"new":{"a":2}}}})");
  ContentTracker other = begun(R"({"T":{"u2":{"new":{"a":2}}}})");
  EXPECT_NE(one.digest(), other.digest());
  EXPECT_TRUE(update(other, R"({"T":{"u1":{"new":{"a":1}}}})").value());
  EXPECT_EQ(one.digest(), other.digest());
  EXPECT_EQ(other.rows(), 2U);
  EXPECT_EQ(to_string(one.digest()).size(), 32U);
}

TEST(ContentDigest, AnEmptyDatabaseIsZeroAndARemovedRowLeavesNothing) {
  ContentTracker tracker = begun("{}");
  EXPECT_EQ(tracker.digest(), Digest());
  EXPECT_TRUE(update(tracker, R"({"T":{"u1":{"new":{"a":1}}}})").value());
  EXPECT_TRUE(update(tracker, R"({"T":{"u1":{"old":{"a":1},"new":{"a":2}}}})").value());
  EXPECT_TRUE(update(tracker, R"({"T":{"u1":{"old":{"a":2}}}})").value());
  EXPECT_EQ(tracker.digest(), Digest());
}

TEST(ContentDigest, SetsAndMapsHaveNoOrder) {
  const auto a = begun(R"({"T":{"u":{"new":{"s":["set",[1,2]],"m":["map",[["x",1],["y",2]]]}}}})");
  const auto b = begun(R"({"T":{"u":{"new":{"m":["map",[["y",2],["x",1]]],"s":["set",[2,1]]}}}})");
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(begun(R"({"T":{"u":{"new":{"s":["set",[7]]}}}})").digest(),
            begun(R"({"T":{"u":{"new":{"s":7}}}})").digest());
}

TEST(ContentDigest, WhatAServerMakesUpForItselfDoesNotCount) {
  ContentTracker tracker =
      begun(R"({"Connection":{"u":{"new":{"target":"ptcp:1","is_connected":false}}}})");
  EXPECT_FALSE(update(tracker, R"({"Connection":{"u":{"old":{"is_connected":false},"new":)"
                               R"({"target":"ptcp:1","is_connected":true,"status":"x"}}}})")
                   .value());
  const std::string version = R"("_version":["uuid","00000000-0000-0000-0000-00000000000)";
  tracker = begun(R"({"A":{"u":{"new":{"a":1,)" + version + R"(1"]}}}})");
  EXPECT_EQ(tracker.digest(),
            begun(R"({"A":{"u":{"new":{"a":1,)" + version + R"(2"]}}}})").digest());
  EXPECT_EQ(tracker.digest(), begun(R"({"A":{"u":{"new":{"a":1}}}})").digest());
}

TEST(ContentDigest, TheSameRowOfAnotherTableIsAnotherRow) {
  EXPECT_NE(begun(R"({"A":{"u":{"new":{"a":1}}}})").digest(),
            begun(R"({"B":{"u":{"new":{"a":1}}}})").digest());
}

TEST(ContentDigest, WhatIsNoUpdateIsAnErrorOrNothing) {
  ContentTracker tracker = begun("{}");
  for (const std::string text :
       {"[]", R"({"T":1})", R"({"T":{"u":1}})", R"({"T":{"u":{}}})", R"({"T":{"u":{"new":1}}})"})
    EXPECT_FALSE(update(tracker, text)) << text;
  const Message echo(R"({"id":"echo","method":"echo","params":[]})");
  EXPECT_FALSE(tracker.apply(echo.rpc).value());
}

TEST(ContentDigest, TablesOfASchema) {
  const Message schema(R"({"id":1,"error":null,"result":{"name":"X","tables":{"B":{},"A":{}}}})");
  const auto tables = read_tables(schema.rpc);
  EXPECT_EQ(tables.value(), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(watch_content("X", *tables), R"(["X","content",{"A":{},"B":{}}])");
  const std::vector<std::string> southbound = {"Chassis", "Logical_DP_Group", "Logical_Flow"};
  EXPECT_EQ(watch_content("OVN_Southbound", southbound),
            R"(["OVN_Southbound","content",{"Chassis":{}}])");
  const Message broken(R"({"id":1,"error":null,"result":{}})");
  EXPECT_FALSE(read_tables(broken.rpc));
}

}  // namespace
}  // namespace wardmote::codec
