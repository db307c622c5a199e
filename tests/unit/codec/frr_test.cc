#include "codec/frr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "base/text.h"
#include "support/test_data.h"

namespace wardmote::codec {
namespace {

/// The first reply of a bgpd to `command` in the transcript: `>> 'command'`, a line of marks, and
/// the text up to the next.
std::string captured(std::string_view command) {
  std::ifstream file(std::filesystem::path(WARDMOTE_TEST_DATA) / "bird/frr-vty-raw.txt");
  const std::string transcript(std::istreambuf_iterator<char>(file), {});
  std::string reply;
  bool inside = false;
  for (std::string_view rest = transcript; !rest.empty();) {
    const std::string_view line = take_until(rest, '\n');
    if (line.starts_with(">> ")) {
      if (inside) break;
      inside = line == fmt::format(">> '{}'", command);
    } else if (inside && !line.starts_with("<< ")) {
      reply.append(line).append("\n");
    }
  }
  check(!reply.empty(), "no such command in the transcript");
  return reply;
}

std::string framed(std::string_view text, char status) {
  return std::string(text) + std::string(3, '\0') + status;
}

/// Feeds `bytes` in steps; the replies, or one error.
std::vector<std::string> replies_of(std::string_view bytes, std::size_t step,
                                    std::size_t cap = 4 << 20) {
  VtyReader reader(cap);
  std::vector<std::string> replies;
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({step, bytes.size(), room.size()});
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
    for (;;) {
      const auto reply = reader.next();
      if (!reply) {
        replies.push_back("error: " + std::string(to_string(reply.error().code)));
        return replies;
      }
      if (!*reply) break;
      replies.push_back(fmt::format("{} {}", (*reply)->status, (*reply)->text));
    }
  }
  return replies;
}

TEST(VtyReader, CutsRepliesWithTheirStatus) {
  const std::string bytes = framed("abc\n", 0) + framed("", 0) + framed("% Unknown command\n", 2);
  for (const std::size_t step : {1U, 2U, 3U, 1000U}) {
    EXPECT_EQ(replies_of(bytes, step),
              (std::vector<std::string>{"0 abc\n", "0 ", "2 % Unknown command\n"}));
  }
  EXPECT_TRUE(replies_of(framed("abc", 0).substr(0, 6), 1).empty()) << "not whole";
}

TEST(VtyReader, ZeroBytesInTheTextAndFloodsEnd) {
  EXPECT_EQ(replies_of(std::string("a\0b\0\0\0\0", 7), 100).front(), "error: protocol error");
  EXPECT_EQ(replies_of(std::string(100'000, 'x'), 1000, 50'000).front(), "error: over a limit");
}

TEST(FrrSummary, OfARealDaemon) {
  const FrrSummary summary = parse_frr_summary(captured("show bgp summary json")).value();
  EXPECT_EQ(summary.router_id, "10.9.9.1");
  EXPECT_EQ(summary.not_understood, 0U);
  ASSERT_EQ(summary.peers.size(), 4U);
  const FrrPeer& up = summary.peers[0];
  EXPECT_EQ(up.address, "10.9.9.2");
  EXPECT_EQ(up.family, "ipv4Unicast");
  EXPECT_EQ(up.state, "Established");
  EXPECT_EQ(up.remote_as, 64512U);
  EXPECT_EQ(up.up_ms, 15000U);
  EXPECT_EQ(up.dropped, 0U);
  EXPECT_EQ(summary.peers[1].state, "Active");
  EXPECT_FALSE(summary.peers[1].up_ms.has_value());
  EXPECT_EQ(summary.peers[2].state, "Idle (Admin)");
  EXPECT_EQ(summary.peers[3].peer_state, "Passive");
}

TEST(FrrResets, OfARealDaemon) {
  const auto resets = parse_frr_resets(captured("show bgp summary failed json")).value();
  ASSERT_EQ(resets.size(), 3U);
  EXPECT_EQ(resets[0], (FrrReset{"", "10.9.9.3", "No AFI/SAFI activated for peer"}));
}

TEST(FrrSummary, OfAllVrfs) {
  const std::string one = captured("show bgp summary json");
  const FrrSummary summary =
      parse_frr_summary("{\"default\":" + one + ",\n\"red\":" + one + ",\"odd\":7}", true).value();
  EXPECT_EQ(summary.peers.size(), 8U);
  EXPECT_EQ(summary.peers[0].vrf, "default");
  EXPECT_EQ(summary.peers[7].vrf, "red");
  EXPECT_EQ(summary.not_understood, 1U);
  EXPECT_EQ(parse_frr_summary("{}", true).error().code, Errc::kRejected) << "no instance at all";
}

TEST(FrrSummary, WordsOfTheDaemonAreARefusal) {
  EXPECT_EQ(parse_frr_summary("% BGP instance not found\n").error().code, Errc::kRejected);
  EXPECT_EQ(parse_frr_summary(captured("nosuch")).error().code, Errc::kRejected);
}

TEST(FrrSummary, NothingElseIsTakenForOne) {
  for (const char* text : {"", "[]", "null", "{", "{\"ipv4Unicast\":{\"peers\":{}}} x", "hello"})
    EXPECT_EQ(parse_frr_summary(text).error().code, Errc::kProtocol) << text;
  const auto fewer = parse_frr_summary(R"({"ipv4Unicast":{"displayedPeers":2,"peers":{"a":{}}}})");
  EXPECT_EQ(fewer.error().code, Errc::kProtocol) << "peers that are not there";
  EXPECT_TRUE(parse_frr_summary("{}").value().peers.empty()) << "a bgpd without neighbours";
}

TEST(FrrSummary, WhatIsNotUnderstoodIsCounted) {
  const auto summary = parse_frr_summary(R"({"note":1,"ipv4Unicast":{"peers":{"a":5}},"l2":{}})");
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->not_understood, 3U);
}

}  // namespace
}  // namespace wardmote::codec
