// The row that carries the epoch of a promotion, and the rows that say where clients connect to.
#include "codec/ovn_global.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "codec/json_rpc.h"
#include "codec/ovsdb_log.h"

namespace wardmote::codec {
namespace {

struct Reply {
  explicit Reply(std::string_view text)
      : document(boost::json::parse({text.data(), text.size()})), message(*classify(document)) {}
  boost::json::value document;
  RpcMessage message;
};

TEST(OvnGlobalCodec, ReadsTheEpochAmongOtherKeys) {
  const Reply reply(R"({"id":1,"error":null,"result":[{"rows":[{"nb_cfg":17,"external_ids":)"
                    R"(["map",[["a","b"],["ovn-ha:epoch","12"],["ovn-ha:node","n2"]]]}]}]})");
  const auto row = read_global(reply.message);
  ASSERT_TRUE(row && *row);
  EXPECT_EQ(**row, (GlobalRow{12, "n2", 17}));
}

TEST(OvnGlobalCodec, ANewDatabaseHasNoRowAndAnOldOneNoEpoch) {
  const Reply none(R"({"id":1,"error":null,"result":[{"rows":[]}]})");
  EXPECT_FALSE(read_global(none.message).value());
  const Reply old(R"({"id":1,"result":[{"rows":[{"nb_cfg":0,"external_ids":["map",[]]}]}]})");
  EXPECT_EQ(read_global(old.message).value()->epoch, 0U);
}

TEST(OvnGlobalCodec, AnAnswerThatCannotBeReadIsAnErrorAndNotAnEmptyDatabase) {
  for (const std::string_view text :
       {R"({"id":1,"result":[]})", R"({"id":1,"result":[{}]})", R"({"id":1,"result":"x"})",
        R"({"id":1,"result":[{"rows":[{}]}]})",
        R"({"id":1,"result":[{"rows":[{"external_ids":["map",[["ovn-ha:epoch","x"]]]}]}]})",
        R"({"id":1,"result":[{"error":"unknown table","details":"no"}]})"}) {
    const Reply reply(text);
    EXPECT_FALSE(read_global(reply.message)) << text;
  }
}

TEST(OvnGlobalCodec, TheStampKeepsOtherKeysAndAsksForTheDisk) {
  const std::string params = stamp_epoch("OVN_Southbound", true, 7, "n1");
  const auto parsed = boost::json::parse(params).get_array();
  EXPECT_EQ(parsed[0], "OVN_Southbound");
  EXPECT_EQ(parsed[1].at("table"), "SB_Global");
  EXPECT_EQ(parsed[1].at("mutations").get_array().size(), 2U);
  EXPECT_EQ(parsed[2].at("durable"), true);
  const auto fresh =
      boost::json::parse(stamp_epoch("OVN_Northbound", false, 1, "a\"b")).get_array();
  EXPECT_EQ(fresh[1].at("op"), "insert");
}

TEST(OvnGlobalCodec, ACheckOfTheDiskWritesSomethingNew) {
  const std::string now = write_check("OVN_Northbound", 7);
  EXPECT_NE(now, write_check("OVN_Northbound", 8));
  EXPECT_EQ(boost::json::parse(now).get_array()[2].at("durable"), true);
}

TEST(OvnGlobalCodec, AWriteThatTheServerRefusedIsAnError) {
  const Reply full(R"({"id":1,"error":null,"result":[{"count":1},{},)"
                   R"({"error":"I/O error","details":"No space left on device"}]})");
  const auto done = read_done(full.message);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().context.find("No space left"), std::string::npos);
  const Reply good(R"({"id":1,"error":null,"result":[{"count":1},{}]})");
  EXPECT_TRUE(read_done(good.message));
  const Reply cut(R"({"id":1,"error":null,"result":[{"count":1},null]})");
  EXPECT_FALSE(read_done(cut.message));
}

TEST(OvnGlobalCodec, Connections) {
  const Reply reply(
      R"({"id":1,"result":[{"rows":[{"_uuid":["uuid","u1"],"target":"ptcp:6641"}]}]})");
  EXPECT_EQ(read_connections(reply.message).value(),
            (std::vector<ConnectionRow>{{"u1", "ptcp:6641"}}));
  EXPECT_TRUE(
      boost::json::parse(add_connection("OVN_Northbound", "ptcp:6641:[fd00::1]", 5000)).is_array());
  EXPECT_TRUE(boost::json::parse(retarget_connection("OVN_Northbound", "u1", "x")).is_array());
}

/// `count` connections, each with what stands in `row`.
std::string connections(int count, const std::string& row) {
  std::string rows;
  for (int i = 0; i < count; ++i) rows += (i == 0 ? "" : ",") + row;
  return R"({"id":1,"result":[{"rows":[)" + rows + "]}]}";
}

TEST(OvnGlobalCodec, ConnectionsThatCannotBeReadAreAnErrorAndNotFewer) {
  const std::string good = R"({"_uuid":["uuid","u1"],"target":"ptcp:6641"})";
  EXPECT_EQ(read_connections(Reply(connections(64, good)).message)->size(), 64U);
  EXPECT_EQ(read_connections(Reply(connections(65, good)).message).error().code, Errc::kLimit);
  EXPECT_TRUE(read_connections(Reply(connections(0, good)).message)->empty());
  for (const char* const bad :
       {R"("x")", R"({"_uuid":["uuid","u1"]})", R"({"_uuid":["uuid","u1"],"target":1})",
        R"({"target":"x"})", R"({"_uuid":"u1","target":"x"})", R"({"_uuid":["uuid"],"target":"x"})",
        R"({"_uuid":["uuid",1],"target":"x"})", R"({"_uuid":[1,"u1"],"target":"x"})",
        R"({"_uuid":["named-uuid","u1"],"target":"x"})",
        R"({"_uuid":["uuid","u1","u2"],"target":"x"})", R"({"_uuid":["uuid",""],"target":"x"})"})
    EXPECT_EQ(read_connections(Reply(connections(1, bad)).message).error().code, Errc::kProtocol)
        << bad;
  const std::string longest = R"({"_uuid":["uuid","u"],"target":")" + std::string(300, 'x') + "\"}";
  EXPECT_EQ(read_connections(Reply(connections(1, longest)).message)->front().target.size(), 256U);
}

TEST(OvnGlobalCodec, IdsThatAreNoMapOfTextsAreAnError) {
  for (const char* const bad :
       {"1", R"(["map"])", R"(["map",1])", R"(["set",[]])", R"([1,[]])", R"(["map",[],1])",
        R"(["map",["x"]])", R"(["map",[["a"]]])", R"(["map",[["a",1]]])", R"(["map",[[1,"a"]]])",
        R"(["map",[["a","b","c"]]])", R"(["map",[["ovn-ha:epoch","-1"]]])"}) {
    const std::string text =
        R"({"id":1,"result":[{"rows":[{"external_ids":)" + std::string(bad) + "}]}]}";
    EXPECT_EQ(read_global(Reply(text).message).error().code, Errc::kProtocol) << bad;
  }
}

TEST(OvnGlobalCodec, OrdersNameTheirDatabaseAndItsTable) {
  using boost::json::parse;
  for (const auto& [database, table] :
       {std::pair("OVN_Northbound", "NB_Global"), std::pair("OVN_Southbound", "SB_Global")}) {
    const auto asked = parse(select_global(database)).get_array();
    EXPECT_EQ(asked[0], database);
    EXPECT_EQ(asked[1].at("table"), table);
    EXPECT_EQ(parse(select_connections(database)).get_array()[0], database);
    const auto added = parse(add_connection(database, "ptcp:6641", 5000)).get_array();
    EXPECT_EQ(added[1].at("row").at("target"), "ptcp:6641");
    EXPECT_EQ(added[1].at("row").at("inactivity_probe"), 5000);
    EXPECT_EQ(added[2].at("table"), table);
    const auto moved = parse(retarget_connection(database, "u1", "x")).get_array();
    EXPECT_EQ(boost::json::serialize(moved[1].at("where")), R"([["_uuid","==",["uuid","u1"]]])");
    EXPECT_EQ(moved[1].at("row").at("target"), "x");
  }
}

TEST(OvnGlobalCodec, TheIdOfAServerIsAText) {
  EXPECT_EQ(read_server_id(Reply(R"({"id":1,"result":"abc"})").message), "abc");
  EXPECT_FALSE(read_server_id(Reply(R"({"id":1,"result":1})").message));
  EXPECT_FALSE(read_server_id(Reply(R"({"id":1,"error":"no","result":null})").message));
}

TEST(OvsdbLogCodec, TheLastDateIsTheLastChange) {
  using namespace std::chrono_literals;
  EXPECT_EQ(last_change("OVSDB JSON 12 ab\n{\"_date\":1763625194118}\nOVSDB JSON 9 cd\n"
                        "{\"a\":\"\\\"_date\\\":5\",\"_date\":1763625200000,\"x\":1}\n"),
            WallTime(1763625200000ms));
  EXPECT_FALSE(last_change(""));
  EXPECT_FALSE(last_change("{\"_date\":17636"));
  EXPECT_FALSE(last_change("{\"_date\":99999999999999999999}"));
}

}  // namespace
}  // namespace wardmote::codec
