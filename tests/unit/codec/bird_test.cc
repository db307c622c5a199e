#include "codec/bird.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/bird_captures.h"

namespace wardmote::codec {
namespace {

using testing::all_bird_exchanges;
using testing::bird_reply;
using testing::BirdExchange;

constexpr std::string_view kHeadings = "2002-name     proto    table    state  since       info\n";

const BirdProtocol& row(const BirdProtocols& protocols, std::string_view name) {
  const auto found = std::ranges::find(protocols.protocols, name, &BirdProtocol::name);
  check(found != protocols.protocols.end(), "no such row");
  return *found;
}

Errc error_of(std::string_view reply) {
  const auto parsed = parse_bird_protocols(reply);
  return parsed ? Errc::kInternal : parsed.error().code;
}

/// The lines of `bytes`, fed in pieces of `step` bytes.
std::vector<std::string> lines_of(std::string_view bytes, std::size_t step) {
  BirdReader reader;
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t size = std::min(step, bytes.size());
    std::ranges::copy(bytes.substr(0, size), reader.room().begin());
    reader.received(size);
    bytes.remove_prefix(size);
    for (;;) {
      const auto line = reader.next();
      if (!line) {
        lines.push_back("error: " + line.error().describe());
        return lines;
      }
      if (!*line) break;
      lines.push_back(
          fmt::format("{} {}{} {}", (*line)->code, (*line)->head, (*line)->last, (*line)->text));
    }
  }
  return lines;
}

TEST(BirdCaptures, EveryTableOfARealBirdIsUnderstoodWhole) {
  int tables = 0;
  for (const BirdExchange& exchange : all_bird_exchanges()) {
    if (!exchange.command.starts_with("show protocols")) continue;
    const auto parsed = parse_bird_protocols(exchange.reply);
    if (exchange.reply.starts_with('8') || exchange.reply.starts_with('9')) {
      ASSERT_FALSE(parsed.has_value());
      EXPECT_EQ(parsed.error().code, Errc::kRejected) << exchange.reply;
      continue;
    }
    ASSERT_TRUE(parsed.has_value()) << exchange.capture << ": " << parsed.error().describe();
    EXPECT_EQ(parsed->unknown.count, 0U) << exchange.capture << ": " << parsed->unknown.kept[0];
    EXPECT_FALSE(parsed->protocols.empty()) << exchange.capture;
    EXPECT_EQ(parsed->detailed, exchange.command.contains(" all")) << exchange.capture;
    for (const BirdProtocol& protocol : parsed->protocols)
      EXPECT_FALSE(protocol.since.empty()) << exchange.capture << " " << protocol.name;
    ++tables;
  }
  EXPECT_GT(tables, 20);
}

TEST(BirdCaptures, EveryStatusOfARealBirdIsUnderstoodWhole) {
  int statuses = 0;
  for (const BirdExchange& exchange : all_bird_exchanges()) {
    if (exchange.command != "show status") continue;
    const auto parsed = parse_bird_status(exchange.reply);
    ASSERT_TRUE(parsed.has_value()) << exchange.capture << ": " << parsed.error().describe();
    EXPECT_EQ(parsed->unknown.count, 0U) << exchange.capture;
    EXPECT_EQ(parsed->version, exchange.capture.starts_with("bird16") ? "1.6.8" : "2.0.12");
    EXPECT_NE(parsed->condition, BirdCondition::kUnknown);
    ++statuses;
  }
  EXPECT_GT(statuses, 6);
}

TEST(BirdCaptures, OneByteAtATimeReadsTheSame) {
  for (const BirdExchange& exchange : all_bird_exchanges())
    EXPECT_EQ(lines_of(exchange.reply, 1), lines_of(exchange.reply, 4096)) << exchange.capture;
}

TEST(BirdCaptures, ACutReplyIsNeverATable) {
  for (const std::string_view capture :
       {"bird16-02-mixed-states.txt", "bird20-02-mixed-states.txt"}) {
    const std::string reply = bird_reply(capture, "show protocols");
    for (std::size_t size = 0; size < reply.size(); ++size)
      EXPECT_EQ(error_of(std::string_view(reply).substr(0, size)), Errc::kProtocol) << size;
  }
}

TEST(BirdStatus, TellsTheGracefulRestartAndItsTimer) {
  const BirdStatus status =
      parse_bird_status(bird_reply("bird20-15-gr-in-progress.txt", "show status")).value();
  ASSERT_TRUE(status.restart.has_value());
  EXPECT_EQ(status.restart->waiting_for, 11U);
  EXPECT_EQ(status.restart->timer, (BirdTimer{238163, 240000}));
  EXPECT_EQ(status.condition, BirdCondition::kRunning);
  EXPECT_EQ(status.router_id, "10.9.1.1");
  EXPECT_EQ(status.hostname, "vm");
  EXPECT_EQ(status.last_reboot, "2026-11-20 07:56:37.455");

  const BirdStatus old =
      parse_bird_status(bird_reply("bird16-17-configure-error.txt", "show status")).value();
  ASSERT_TRUE(old.restart.has_value());
  EXPECT_EQ(old.restart->waiting_for, 6U);
  EXPECT_EQ(old.restart->timer, (BirdTimer{224000, 240000}));
}

TEST(BirdStatus, TellsAShutdown) {
  for (const std::string_view capture : {"bird16-18-down.txt", "bird20-18-down.txt"}) {
    EXPECT_EQ(parse_bird_status(bird_reply(capture, "show status"))->condition,
              BirdCondition::kShuttingDown);
  }
}

TEST(BirdStatus, AcceptsTheVersionOfCalicosFork) {
  EXPECT_EQ(
      parse_bird_status("1000-BIRD v0.3.3+birdv1.6.8\n0013 Daemon is up and running\n")->version,
      "v0.3.3+birdv1.6.8");
}

TEST(BirdStatus, WithoutItsBeginningOrItsEndIsNone) {
  EXPECT_FALSE(parse_bird_status("0013 Daemon is up and running\n").has_value());
  EXPECT_FALSE(parse_bird_status("1000 BIRD 1.6.8\n").has_value());
  EXPECT_FALSE(parse_bird_status("1000-BIRD 1.6.8\n0000 \n").has_value());
  EXPECT_FALSE(parse_bird_status("1000-BIRD 1.6.8\n0013-Daemon is up and running\n").has_value());
}

TEST(BirdProtocols, StatesAreToldApart) {
  const BirdProtocols protocols =
      parse_bird_protocols(bird_reply("bird16-02-mixed-states.txt", "show protocols")).value();
  EXPECT_EQ(row(protocols, "Mesh_10_9_1_2").info, "Established");
  EXPECT_EQ(row(protocols, "Mesh_10_9_1_2").state, "up");
  EXPECT_EQ(row(protocols, "Node_10_9_4_2").info, "Idle          BGP Error: Bad peer AS");
  EXPECT_EQ(row(protocols, "Node_10_9_1_9").state, "down");
  EXPECT_EQ(row(protocols, "Node_10_9_1_9").info, "") << "a disabled one stays a row";
  EXPECT_EQ(row(protocols, "Node_10_9_1_9").since, "07:56:55");
  EXPECT_EQ(row(protocols, "Node_10_9_1_3_port_1790").proto, "BGP") << "a name that moves columns";
}

TEST(BirdProtocols, TheMomentMayHaveTwoWords) {
  const BirdProtocols protocols =
      parse_bird_protocols(
          bird_reply("bird16-11-timeformat-iso-long.txt", "show protocols \"Mesh_*\""))
          .value();
  EXPECT_EQ(row(protocols, "Mesh_10_9_1_2").since, "2026-11-20 07:57:15");
  EXPECT_EQ(row(protocols, "Mesh_10_9_1_2").info, "Established");
}

TEST(BirdProtocols, AFormatOfItsOwnHasAnyNumberOfWords) {
  const BirdProtocols protocols =
      parse_bird_protocols(
          std::string(kHeadings) +
          "1002-a BGP master up 20.11._07h Established\n"
          " b BGP master up Established\n"
          " c BGP master up 20.11.2026 07:57:15 Established\n"
          " d BGP master start Nov 20 07:57:15 2026 Active Socket: Connection refused\n"
          " e BGP master down Nov 20 07:57:15 2026 \n"
          " f Kernel master up 07:57:15 Active\n"
          " g Kernel master up 2026-11-20 07:57:15 Active\n"
          " h Kernel master up 2026-11-20 07:57:15.123 Active\n"
          " i Kernel master up 2026-11-20x 07:57:15 Active\n"
          "0000 \n")
          .value();
  EXPECT_EQ(row(protocols, "a").since, "20.11._07h");
  EXPECT_EQ(row(protocols, "a").info, "Established");
  EXPECT_EQ(row(protocols, "b").since, "");
  EXPECT_EQ(row(protocols, "b").info, "Established");
  EXPECT_EQ(row(protocols, "c").since, "20.11.2026 07:57:15");
  EXPECT_EQ(row(protocols, "c").info, "Established");
  EXPECT_EQ(row(protocols, "d").since, "Nov 20 07:57:15 2026");
  EXPECT_EQ(row(protocols, "d").info, "Active Socket: Connection refused");
  EXPECT_EQ(row(protocols, "e").info, "") << "so it is seen to be disabled";
  EXPECT_EQ(row(protocols, "f").info, "Active");
  EXPECT_EQ(row(protocols, "g").since, "2026-11-20 07:57:15");
  EXPECT_EQ(row(protocols, "h").since, "2026-11-20 07:57:15.123");
  EXPECT_EQ(row(protocols, "h").info, "Active");
  EXPECT_EQ(row(protocols, "i").since, "2026-11-20x") << "no date, so one word";
}

TEST(BirdProtocols, AllTellsAddressesRoutesAndErrors) {
  for (const std::string_view capture :
       {"bird16-03-protocols-all.txt", "bird20-03-protocols-all.txt"}) {
    const BirdProtocols protocols =
        parse_bird_protocols(bird_reply(capture, "show protocols all")).value();
    const BirdProtocol& up = row(protocols, "Mesh_10_9_1_2");
    EXPECT_EQ(up.neighbor_address, "10.9.1.2");
    EXPECT_EQ(up.neighbor_as, 64512U);
    EXPECT_EQ(up.source_address, "10.9.1.1");
    EXPECT_EQ(up.description, "Connection to BGP peer");
    ASSERT_EQ(up.channels.size(), 1U);
    EXPECT_EQ(up.channels[0].routes, (BirdRoutes{2, 0, 4, 1}));
    ASSERT_TRUE(up.hold.has_value());
    EXPECT_EQ(up.hold->total_ms, 240000U);
    EXPECT_EQ(row(protocols, "Node_10_9_4_2").last_error, "BGP Error: Bad peer AS");
    EXPECT_EQ(row(protocols, "Node_10_9_4_2").neighbor_as, 64999U);
    EXPECT_EQ(row(protocols, "Node_10_9_1_9").bgp_state, "Down");
  }
}

TEST(BirdProtocols, ChannelsAreThoseOfTheirFamilies) {
  const BirdProtocols protocols =
      parse_bird_protocols(bird_reply("bird20-03-protocols-all.txt", "show protocols all")).value();
  const BirdProtocol& dual = row(protocols, "Mesh_dual_10_9_1_2");
  ASSERT_EQ(dual.channels.size(), 2U);
  EXPECT_EQ(dual.channels[0].name, "ipv4");
  EXPECT_EQ(dual.channels[1].name, "ipv6");
  EXPECT_EQ(dual.channels[1].state, "DOWN");
  EXPECT_EQ(row(protocols, "Mesh_fd09_1__2").neighbor_address, "fd09:1::2");

  const BirdProtocols restarting =
      parse_bird_protocols(
          bird_reply("bird20-15-gr-in-progress.txt", "show protocols all Mesh_10_9_1_2"))
          .value();
  EXPECT_EQ(row(restarting, "Mesh_10_9_1_2").channels.at(0).restart, "pending");
}

TEST(BirdProtocols, WhatIsNotUnderstoodIsKeptAndCounted) {
  const BirdProtocols protocols = parse_bird_protocols(std::string(kHeadings) +
                                                       "1002-a BGP master up 07:54:13 Established\n"
                                                       "1006-  Moon phase: full\n"
                                                       "   Hold timer: soon\n"
                                                       "1099-a line of BIRD 4\n"
                                                       "0000 \n")
                                      .value();
  EXPECT_EQ(protocols.unknown.count, 3U);
  EXPECT_EQ(protocols.unknown.kept,
            (std::vector<std::string>{"Moon phase: full", "Hold timer: soon", "a line of BIRD 4"}));
}

TEST(BirdProtocols, FiveHundredPeersAreRead) {
  std::string reply(kHeadings);
  for (int i = 0; i < 500; ++i)
    reply += fmt::format("{}Mesh_10_{}_{}_2 BGP      master   up     07:54:13    Established   \n",
                         i == 0 ? "1002-" : " ", i / 250, i % 250);
  const auto protocols = parse_bird_protocols(reply + "0000 \n");
  ASSERT_TRUE(protocols.has_value());
  EXPECT_EQ(protocols->protocols.size(), 500U);
}

TEST(BirdProtocols, RefusalsSayWhy) {
  const auto none = parse_bird_protocols("8003 No protocols match\n");
  EXPECT_EQ(none.error().code, Errc::kRejected);
  EXPECT_TRUE(none.error().context.contains("8003 No protocols match"));
  EXPECT_EQ(error_of("8007 Access denied\n"), Errc::kDenied);
  EXPECT_EQ(error_of("9001 syntax error, unexpected END\n"), Errc::kRejected);
}

TEST(BirdHostile, NothingThatIsNotATableIsTakenForOne) {
  const std::string headings(kHeadings);
  const std::string row =
      "1002-Mesh_10_0_0_1 BGP      master   up     07:54:13    Established   \n";
  for (const std::string& reply : std::vector<std::string>{
           std::string(),
           headings,
           headings + row,
           headings + "1002-Mesh_10_0_0_1 BGP  mas",
           std::string("2002\n0000 \n"),
           headings + "1002\n0000 \n",
           headings + "0000x garbage but starts with 0000\n0000 \n",
           "1002-Mesh_10_0_0_1 BGP m up t Established\n0000 \n",
           headings + "1002-Mesh_10_0_0_1 BGP master\n0000 \n",
           headings + row + "0000 \n0000 \n",
           headings + headings + row + "0000 \n",
           "2002-name proto table state foo info\n" + row + "0000 \n",
           "2002-name proto table state since info more\n" + row + "0000 \n",
           headings + "9000\n",
           headings + row + "0013 Daemon is up and running\n",
           std::string(" continues nothing\n0000 \n"),
           std::string("0000 \n"),
           headings + std::string("1002-Mesh_1 BGP master up 07:54:13 Esta\0blished\n0000 \n", 50),
           headings + "1002-Mesh_10_0_0_1 BGP master up 07:54:13 Established \xff\n0000 \n",
           headings + "1002-Mesh\x1b[2J BGP master up 07:54:13 Established\n0000 \n",
       }) {
    EXPECT_EQ(error_of(reply), Errc::kProtocol) << reply;
  }
}

TEST(BirdHostile, ErrorsQuoteLittleAndEscaped) {
  const auto parsed = parse_bird_protocols(std::string(500, '\x1b') + "\n");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_LT(parsed.error().context.size(), 700U);
  EXPECT_FALSE(parsed.error().context.contains('\x1b'));
}

TEST(BirdHostile, LinesAndRepliesHaveACap) {
  EXPECT_EQ(error_of(std::string(kHeadings) + "1002-a BGP m up 07:54:13 Established " +
                     std::string(70'000, 'x') + "\n0000 \n"),
            Errc::kLimit);
  EXPECT_EQ(error_of(std::string(10 << 20, 'x')), Errc::kLimit);
  std::string endless(kHeadings);
  while (endless.size() < (5U << 20)) endless.append("1099-filler\n");
  EXPECT_EQ(error_of(endless), Errc::kLimit);
}

TEST(BirdHostile, ProtocolsHaveACap) {
  const auto reply = [](int protocols) {
    std::string text(kHeadings);
    for (int i = 0; i < protocols; ++i)
      text += "1002-p" + std::to_string(i) + " BGP m up 07:54:13 Established\n";
    return text + "0000 \n";
  };
  EXPECT_EQ(parse_bird_protocols(reply(8192)).value().protocols.size(), 8192U);
  EXPECT_EQ(error_of(reply(8193)), Errc::kLimit);
}

TEST(BirdReader, AcceptsCarriageReturnsAndSkipsWhatIsAsynchronous) {
  EXPECT_EQ(lines_of("0001 BIRD 2.0.12 ready.\r\n+2002 someone reconfigured\n0000 \n", 100),
            (std::vector<std::string>{"1 truetrue BIRD 2.0.12 ready.", "0 truetrue "}));
}

TEST(BirdReader, KnowsWhetherAReplyIsUnderWay) {
  BirdReader reader;
  const std::string_view bytes = "1000-BIRD 1.6.8\n";
  std::ranges::copy(bytes, reader.room().begin());
  reader.received(bytes.size());
  EXPECT_TRUE(reader.next().value().has_value());
  EXPECT_TRUE(reader.partial());
  EXPECT_EQ(reader.lines(), 1U);
}

}  // namespace
}  // namespace wardmote::codec
