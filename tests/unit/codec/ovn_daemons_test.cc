// What ovn-northd, ovn-controller and ovs-vswitchd of Debian 12 (OVN 23.03, OVS 3.1) answer.
#include "codec/ovn_daemons.h"
#include "codec/unixctl_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <string_view>

#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

struct Reply {
  explicit Reply(std::string_view text)
      : document(boost::json::parse({text.data(), text.size()})), message(*classify(document)) {}
  boost::json::value document;
  RpcMessage message;
};

TEST(OvnDaemonsCodec, ReadsTheThreeStatesOfNorthd) {
  EXPECT_EQ(parse_northd_status("Status: active\n").value(), "active");
  EXPECT_EQ(parse_northd_status("Status: standby\n").value(), "standby");
  EXPECT_EQ(parse_northd_status("Status: paused\n").value(), "paused");
  for (const std::string_view other :
       {"", "active", "Status: asleep", "Status:", "Status: active x"})
    EXPECT_FALSE(parse_northd_status(other)) << other;
}

TEST(OvnDaemonsCodec, AConnectionIsThereOnlyWhereTheDaemonSaysSo) {
  EXPECT_TRUE(parse_connection_status("connected\n").value());
  EXPECT_FALSE(parse_connection_status("not connected\n").value());
  EXPECT_FALSE(parse_connection_status("connected to nobody"));
  EXPECT_FALSE(parse_connection_status(""));
  EXPECT_TRUE(parse_debug_status("paused").value());
  EXPECT_FALSE(parse_debug_status("running").value());
  EXPECT_FALSE(parse_debug_status("resting"));
}

TEST(OvnDaemonsCodec, ReadsTheVersion) {
  EXPECT_EQ(parse_version("ovs-vswitchd (Open vSwitch) 3.1.0\n").value(), "3.1.0");
  EXPECT_FALSE(parse_version("3.1.0"));
  EXPECT_FALSE(parse_version(""));
}

TEST(OvnDaemonsCodec, ATextMayBeWrappedAndNothingElseIsOne) {
  EXPECT_EQ(
      read_unixctl_text(Reply(R"({"id":1,"result":"connected\n","error":null})").message).value(),
      "connected\n");
  const Reply wrapped(
      R"({"id":1,"result":{"reply-format":"plain","reply":"connected\n"},"error":null})");
  EXPECT_EQ(read_unixctl_text(wrapped.message).value(), "connected\n");
  EXPECT_EQ(read_unixctl_text(Reply(R"({"id":1,"result":7})").message).error().code,
            Errc::kProtocol);
  const Reply unknown(
      R"({"id":1,"error":"\"status\" is not a valid command (use \"list-commands\" ...)\n"})");
  EXPECT_EQ(read_unixctl_text(unknown.message).error().code, Errc::kRejected);
  const Reply flood(R"({"id":1,"result":")" + std::string(70000, 'x') + R"("})");
  EXPECT_EQ(read_unixctl_text(flood.message).error().code, Errc::kLimit);
}

TEST(OvnDaemonsCodec, ReadsHowFarTheSwitchIsAndItsFaultyInterfaces) {
  const Reply reply(R"~({"id":1,"error":null,"result":[{"rows":[{"next_cfg":7,"cur_cfg":5}]},)~"
                    R"~({"rows":[{"name":"vnet3","error":"could not open network device vnet3 )~"
                    R"~((No such device)"}]}]})~");
  const auto row = read_vswitch(reply.message);
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->next_cfg, 7);
  EXPECT_EQ((*row)->cur_cfg, 5);
  EXPECT_EQ((*row)->faulty, 1U);
  EXPECT_EQ((*row)->errors.at(0), "vnet3: could not open network device vnet3 (No such device)");
}

TEST(OvnDaemonsCodec, AnEmptySwitchDatabaseHasNoRowAndABrokenAnswerIsAnError) {
  EXPECT_FALSE(
      read_vswitch(Reply(R"({"id":1,"result":[{"rows":[]},{"rows":[]}]})").message).value());
  for (const std::string_view text :
       {R"({"id":1,"result":[]})", R"({"id":1,"result":[{"rows":[]}]})",
        R"({"id":1,"result":[{"rows":[{}]},{"rows":[]}]})",
        R"({"id":1,"result":[{"rows":[{"next_cfg":"7","cur_cfg":5}]},{"rows":[]}]})",
        R"({"id":1,"result":[{"rows":[{"next_cfg":7,"cur_cfg":5}]},{"rows":[3]}]})"}) {
    EXPECT_FALSE(read_vswitch(Reply(text).message)) << text;
  }
}

TEST(OvnDaemonsCodec, ManyFaultyInterfacesAreCountedAndFewAreNamed) {
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += R"(,{"name":"p)" + std::to_string(i) + R"(","error":"no"})";
  const Reply reply(R"({"id":1,"result":[{"rows":[{"next_cfg":1,"cur_cfg":1}]},{"rows":[)" +
                    rows.substr(1) + "]}]}");
  const auto row = read_vswitch(reply.message);
  EXPECT_EQ(row.value()->faulty, 20U);
  EXPECT_EQ(row.value()->errors.size(), kMostInterfaceErrors);
}

}  // namespace
}  // namespace wardmote::codec
