// The row that carries the epoch of a promotion, and the rows that say where clients connect to.
#include "codec/ovn_global.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <string>
#include <string_view>

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
