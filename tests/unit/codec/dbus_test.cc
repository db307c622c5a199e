#include "codec/dbus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "codec/dbus_walker.h"
#include "support/test_data.h"

namespace wardmote::codec {
namespace {

/// What a bus with a real systemd 252 behind it said to a client.
std::string captured(std::string_view name) {
  std::ifstream file(fmt::format("{}/systemd/{}.bytes", WARDMOTE_TEST_DATA, name),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void give(DbusReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min(bytes.size(), room.size());
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

/// The messages after the two lines of the authentication.
std::vector<DbusMessage> messages_of(std::string_view bytes, std::size_t step) {
  DbusReader reader;
  std::vector<DbusMessage> messages;
  for (int lines = 0; lines < 2;) {
    const auto line = reader.next_line();
    EXPECT_TRUE(line);
    lines += *line ? 1 : 0;
    if (*line) continue;
    give(reader, bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  for (;;) {
    auto message = reader.next();
    if (!message) {
      ADD_FAILURE() << message.error().describe();
      return messages;
    }
    if (*message) {
      messages.push_back(**std::move(message));
    } else if (bytes.empty()) {
      EXPECT_EQ(reader.held(), 0U);
      return messages;
    } else {
      give(reader, bytes.substr(0, step));
      bytes.remove_prefix(std::min(step, bytes.size()));
    }
  }
}

TEST(DbusCapture, IsTheSameInOnePieceAndByteByByte) {
  const std::string bytes = captured("good");
  const std::vector<DbusMessage> messages = messages_of(bytes, bytes.size());
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages, messages_of(bytes, 1));
  EXPECT_EQ(messages[0].kind, DbusMessage::Kind::kReply);
  EXPECT_EQ(messages[0].reply_to, 1U);
  EXPECT_TRUE(parse_dbus_text(messages[0])->starts_with(":1.")) << "the name on the bus";
  EXPECT_EQ(messages[1].kind, DbusMessage::Kind::kSignal);
  EXPECT_EQ(messages[1].member, "NameAcquired");
  EXPECT_EQ(*parse_dbus_text(messages[2]), "/org/freedesktop/systemd1/unit/good_2eservice");
}

// As `systemctl show` printed it at that time: tests/data/systemd/*.show.
TEST(DbusCapture, HoldsWhatSystemctlShows) {
  const auto good = messages_of(captured("good"), 4096);
  const DbusProperties unit = parse_dbus_properties(good.at(3)).value();
  EXPECT_EQ(unit.at("Id"), DbusValue("good.service"));
  EXPECT_EQ(unit.at("LoadState"), DbusValue("loaded"));
  EXPECT_EQ(unit.at("ActiveState"), DbusValue("active"));
  EXPECT_EQ(unit.at("SubState"), DbusValue("running"));
  // 2026-11-20 16:45:03 UTC, and some microseconds.
  EXPECT_EQ(std::get<std::uint64_t>(unit.at("StateChangeTimestamp")) / 1000000, 1795193103U);
  EXPECT_EQ(unit.at("Names"), DbusValue()) << "an array is no value here";
  const DbusProperties service = parse_dbus_properties(good.at(4)).value();
  EXPECT_EQ(service.at("MainPID"), DbusValue(std::uint64_t{26024}));
  EXPECT_EQ(service.at("Result"), DbusValue("success"));
  EXPECT_EQ(service.at("NRestarts"), DbusValue(std::uint64_t{0}));
  EXPECT_EQ(service.at("WatchdogUSec"), DbusValue(std::uint64_t{0}));
  const auto nosuch = messages_of(captured("nosuch"), 4096);
  EXPECT_EQ(parse_dbus_properties(nosuch.back())->at("WatchdogUSec"), DbusValue(UINT64_MAX));

  const auto crash = messages_of(captured("crash"), 4096);
  const DbusProperties restarting = parse_dbus_properties(crash.back()).value();
  EXPECT_EQ(restarting.at("Result"), DbusValue("exit-code"));
  EXPECT_EQ(restarting.at("ExecMainCode"), DbusValue(std::int64_t{1}));
  EXPECT_EQ(restarting.at("ExecMainStatus"), DbusValue(std::int64_t{3}));
}

TEST(DbusCapture, AUnitThatIsNoServiceHasNoSuchProperties) {
  const auto socket = messages_of(captured("socket"), 4096);
  EXPECT_EQ(socket.back().kind, DbusMessage::Kind::kError);
  EXPECT_EQ(socket.back().error, "org.freedesktop.DBus.Error.UnknownInterface");
  EXPECT_FALSE(parse_dbus_properties(socket.back()));
}

// Byte by byte from the D-Bus Specification, Message Format; dbus-daemon and systemd take it in
// tests/integration.
TEST(DbusCall, IsMarshalledAsTheSpecificationSays) {
  DbusCall call;
  call.serial = 7;
  call.path = "/a";
  call.interface = "i.f";
  call.member = "M";
  call.arguments = {"x"};
  const std::string_view expected(
      "l\1\0\1"  // little endian, a call, no flags, version 1
      "\6\0\0\0\7\0\0\0"
      "\x37\0\0\0"                      // the length of the fields
      "\1\1o\0\2\0\0\0/a\0\0\0\0\0\0"   // path
      "\2\1s\0\3\0\0\0i.f\0\0\0\0\0"    // interface
      "\3\1s\0\1\0\0\0M\0\0\0\0\0\0\0"  // member
      "\x8\1g\0\1s\0\0"                 // signature
      "\1\0\0\0x\0",
      16 + 16 + 16 + 16 + 8 + 6);
  EXPECT_EQ(encode(call), expected);
}

TEST(DbusReader, WhatIsNoMessageIsAnErrorAndNothingGrows) {
  const auto error_of = [](std::string bytes) {
    DbusReader reader;
    give(reader, bytes);
    const auto message = reader.next();
    return message ? Errc::kInternal : message.error().code;
  };
  EXPECT_EQ(error_of("HTTP/1.1 400 Bad Request\r\n\r\n"), Errc::kProtocol);
  EXPECT_EQ(error_of(std::string("B\1\0\1", 4) + std::string(12, '\0')), Errc::kProtocol)
      << "big endian";
  EXPECT_EQ(error_of("l\1" + std::string(1, '\0') + "\1" + std::string(12, '\xff')), Errc::kLimit);
  DbusReader endless;
  give(endless, std::string(5000, 'x'));
  const auto line = endless.next_line();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Errc::kLimit);
}

TEST(DbusReader, EveryCutOfTheLastMessageWaitsForMore) {
  const std::string bytes = encode({.serial = 1,
                                    .destination = {},
                                    .path = "/a",
                                    .interface = "i.f",
                                    .member = "M",
                                    .arguments = {"text"}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    DbusReader reader;
    give(reader, std::string_view(bytes).substr(0, size));
    const auto message = reader.next();
    ASSERT_TRUE(message) << size;
    EXPECT_FALSE(*message) << size;
  }
}

TEST(DbusProperties, CutAndBrokenOnesAreErrors) {
  DbusMessage reply = messages_of(captured("good"), 4096).at(3);
  const std::string whole = reply.body;
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    reply.body = whole.substr(0, size);
    EXPECT_FALSE(parse_dbus_properties(reply)) << size;
  }
  reply.body = whole;
  reply.signature = std::string(100, 's');
  EXPECT_EQ(parse_dbus_properties(reply).error().context,
            "properties of the type '" + std::string(64, 's') + "…'");
}

TEST(DbusWalker, NestingHasAnEnd) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += std::string("\1v\0", 3);
  DbusWalker walker(bytes);
  std::string_view type = "v";
  walker.skip(type);
  EXPECT_FALSE(walker.good());

  const std::string deep = std::string(80, 'a') + "y";
  DbusWalker arrays(std::string_view("\0\0\0\0", 4));
  std::string_view types = deep;
  arrays.skip(types);
  EXPECT_FALSE(arrays.good());
}

TEST(DbusWalker, NothingHasNoType) {
  for (const std::string_view one : {"", "a", "(", "{s"}) {
    DbusWalker walker(std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0", 12));
    std::string_view types = one;
    walker.skip(types);
    EXPECT_FALSE(walker.good()) << one;
  }
}

}  // namespace
}  // namespace wardmote::codec
