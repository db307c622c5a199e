// What is taken up to a limit, at the limit and one beyond it.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "base/result.h"
#include "codec/bird.h"
#include "codec/bird_parts.h"
#include "codec/domain_xml.h"
#include "codec/etcd/messages.h"
#include "codec/frr.h"
#include "codec/json_rpc.h"
#include "codec/keystone.h"
#include "codec/kube_api.h"
#include "codec/kubernetes.h"
#include "codec/mail.h"
#include "codec/masakari.h"
#include "codec/ovn_daemons.h"
#include "codec/ovn_global.h"
#include "codec/ovsdb.h"
#include "codec/plugin_output.h"
#include "codec/proc_stat.h"
#include "codec/qga.h"
#include "codec/report_message.h"
#include "codec/sync_status.h"
#include "codec/unixctl_text.h"
#include "codec/url.h"

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

/// `count` of `one`, with commas between them.
std::string list(std::size_t count, const std::string& one) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ",") + one;
  return all;
}

template <class Read>
auto read_reply(Read read, const std::string& result) {
  const boost::json::value document =
      boost::json::parse(R"({"id":1,"error":null,"result":)" + result + "}");
  return read(*classify(document));
}

TEST(Limits, OfProcessesAndTimers) {
  EXPECT_EQ(parse_proc_rss("VmRSS: 18014398509481983 kB\n").value(), UINT64_MAX - 1023);
  EXPECT_FALSE(parse_proc_rss("VmRSS: 18014398509481984 kB\n"));
  const auto started = [](const std::string& ticks) {
    return parse_proc_stat("7 (a) R 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 " + ticks).has_value();
  };
  EXPECT_TRUE(started("549755813888"));
  EXPECT_FALSE(started("549755813889"));
  EXPECT_FALSE(started("-1"));
  EXPECT_EQ(read_bird_timer("1000000000").value().left_ms, 1'000'000'000'000U);
  EXPECT_FALSE(read_bird_timer("1000000001"));
}

TEST(Limits, OfLists) {
  const auto connections = [](std::size_t count) {
    return read_reply(
        read_connections,
        "[{\"rows\":[" + list(count, R"({"_uuid":["uuid","x"],"target":"t"})") + "]}]");
  };
  EXPECT_EQ(connections(64).value().size(), 64U);
  EXPECT_EQ(connections(65).error().code, Errc::kLimit);
  const auto endpoints = [](std::size_t count) {
    return parse_keystone_token(
               R"({"token":{"expires_at":"2026-11-20T08:05:21.000000Z","catalog":[{"type":"a",)"
               R"("endpoints":[)" +
               list(count, R"({"url":"u"})") + "]}]}}")
        .value()
        .catalog.size();
  };
  EXPECT_EQ(endpoints(4096), 4096U);
  EXPECT_EQ(endpoints(4097), 4096U);
  const auto causes = [](std::size_t count) {
    return parse_kube_status(R"({"kind":"Status","details":{"causes":[)" +
                             list(count, R"({"reason":"r"})") + "]}}")
        .causes.size();
  };
  EXPECT_EQ(causes(32), 32U);
  EXPECT_EQ(causes(33), 32U);
  const auto items = [](std::size_t count) {
    return parse_masakari_list(R"({"hosts":[)" + list(count, R"({"uuid":"a"})") + "]}", "hosts")
        .value()
        .size();
  };
  EXPECT_EQ(items(10'000), 10'000U);
  EXPECT_EQ(items(10'001), 10'000U);
  const auto file_systems = [](std::size_t count) {
    return parse_fsinfo(R"({"return":[)" + list(count, R"({"mountpoint":"/"})") + "]}")
        .value()
        .size();
  };
  EXPECT_EQ(file_systems(64), 64U);
  EXPECT_EQ(file_systems(65), 64U);
  const auto interfaces = [](std::size_t count) {
    return read_reply(read_vswitch, R"([{"rows":[{"next_cfg":1,"cur_cfg":1}]},{"rows":[)" +
                                        list(count, R"({"name":"a","error":"b"})") + "]}]")
        .value()
        .value();
  };
  EXPECT_EQ(interfaces(8).errors.size(), 8U);
  EXPECT_EQ(interfaces(9).errors.size(), 8U);
  EXPECT_EQ(interfaces(9).faulty, 9U);
  std::string values = "OK |";
  for (int i = 0; i < 65; ++i) values += " a" + std::to_string(i) + "=1";
  EXPECT_EQ(parse_plugin_output(values).values.size(), 64U);
}

TEST(Limits, OfDomains) {
  const auto parts = [](std::size_t count) {
    std::string xml =
        "<domain><name>a</name><uuid>11111111-2222-4333-8444-555555555555</uuid><metadata>";
    for (std::size_t i = 1; i < count; ++i) xml += "<other/>";
    xml += "<w:guest xmlns:w='" + std::string(kPolicyNamespace) + "'";
    for (std::size_t i = 0; i < count; ++i) xml += " a" + std::to_string(i) + "='1'";
    xml += "/></metadata><devices>";
    for (std::size_t i = 0; i < count; ++i)
      xml += "<channel/><disk><source/><target dev='vd" + std::to_string(i) + "'/></disk>";
    return parse_domain_xml(xml + "</devices></domain>").value();
  };
  EXPECT_EQ(parts(64).channels.size(), 64U);
  EXPECT_EQ(parts(65).channels.size(), 64U);
  EXPECT_EQ(parts(64).disks.size(), 64U);
  EXPECT_EQ(parts(65).disks.size(), 64U);
  EXPECT_EQ(parts(32).policy.value().attributes.size(), 32U);
  EXPECT_EQ(parts(33).policy.value().attributes.size(), 32U);
  EXPECT_TRUE(parts(64).policy);
  EXPECT_FALSE(parts(65).policy) << "so many elements before it are not looked through";
}

TEST(Limits, OfNames) {
  const std::string name(64, 'a');
  EXPECT_EQ(split_database_names(name + "\n" + name + "a\n"), std::vector<std::string>{name});
  EXPECT_EQ(codec::etcd::parse_alarm("alarm:" + std::string(32, 'A')).value().name.size(), 32U);
  EXPECT_FALSE(codec::etcd::parse_alarm("alarm:" + std::string(33, 'A')));
  const auto version = [](std::size_t size) {
    return parse_version("ovn-northd (Open vSwitch) " + std::string(size - 26, '1')).has_value();
  };
  EXPECT_TRUE(version(128));
  EXPECT_FALSE(version(129));
  EXPECT_TRUE(is_kubernetes_name(std::string(253, 'a')));
  EXPECT_FALSE(is_kubernetes_name(std::string(254, 'a')));
  EXPECT_TRUE(is_mail_address("a@" + std::string(252, 'b')));
  EXPECT_FALSE(is_mail_address("a@" + std::string(253, 'b')));
  EXPECT_TRUE(parse_url("http://" + std::string(253, 'h') + "/"));
  EXPECT_FALSE(parse_url("http://" + std::string(254, 'h') + "/"));
  EXPECT_TRUE(parse_url("http://h/" + std::string(4096 - 9, 'p')));
  EXPECT_FALSE(parse_url("http://h/" + std::string(4096 - 8, 'p')));
}

TEST(Limits, OfTexts) {
  const auto text = [](std::size_t size) {
    return read_reply(read_unixctl_text, "\"" + std::string(size, 'x') + "\"");
  };
  EXPECT_EQ(text(64 << 10).value().size(), std::size_t{64} << 10);
  EXPECT_EQ(text((64 << 10) + 1).error().code, Errc::kLimit);
  EXPECT_EQ(parse_qga_reply(R"({"return":")" + std::string(1025, 'x') + "\"}")
                .value()
                .text.value()
                .size(),
            1024U);
  EXPECT_EQ(parse_plugin_output(std::string(1025, 'x')).text.size(), 1024U);
  const std::string word(128, 'l');
  EXPECT_EQ(parse_plugin_output("|" + word + "=1").values.size(), 1U);
  EXPECT_EQ(parse_plugin_output("|" + word + "l=1").values.size(), 0U);
  EXPECT_EQ(parse_plugin_output("|a=1;" + std::string(126, '1')).values.size(), 1U);
  EXPECT_EQ(parse_plugin_output("|a=1;" + std::string(127, '1')).values.size(), 0U);
  const auto detail = [](std::size_t size) {
    return parse_report_message(R"({"live":true,"detail":")" + std::string(size, 'x') + "\"}")
        .value()
        .detail;
  };
  EXPECT_EQ(detail(4096).value().size(), 4096U);
  EXPECT_EQ(detail(4097).value().size(), 4096U);
  const std::string source(256, 's');
  EXPECT_EQ(parse_sync_status("state: backup\nreplicating: " + source + "x\ndatabase: D\n")
                .value()
                .at(0)
                .source,
            source);
}

TEST(Limits, OfTimes) {
  const auto watchdog = [](const std::string& microseconds) {
    const auto read = parse_report_message("WATCHDOG=1\nWATCHDOG_USEC=" + microseconds);
    return read ? read->timeout : std::nullopt;
  };
  EXPECT_EQ(watchdog("9223372036854775"), std::chrono::microseconds(9223372036854775));
  EXPECT_EQ(watchdog("0"), 0s);
  EXPECT_FALSE(watchdog("9223372036854776"));
  EXPECT_FALSE(watchdog("-1"));
}

}  // namespace
}  // namespace wardmote::codec
