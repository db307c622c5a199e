#include "codec/grpc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "codec/http2.h"

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

void give(Http2Reader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min(bytes.size(), room.size());
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

TEST(Http2, FramesAreReadBackWhole) {
  Http2Reader reader;
  const Http2Frame settings{4, 0, 0, {}};
  const Http2Frame data{0, 1, 3, "abc"};
  const std::string bytes = encode(settings) + encode(data);
  // RFC 9113 4.1: length, type, flags, stream.
  EXPECT_EQ(encode(data), std::string_view("\0\0\3\0\1\0\0\0\3abc", 12));
  for (const char byte : bytes.substr(0, bytes.size() - 1)) give(reader, std::string(1, byte));
  EXPECT_EQ(*reader.next(), settings);
  EXPECT_EQ(*reader.next(), std::nullopt) << "one byte is missing";
  give(reader, bytes.substr(bytes.size() - 1));
  EXPECT_EQ(*reader.next(), data);
  EXPECT_EQ(reader.held(), 0U);
}

TEST(Http2, WhatSpeaksSomethingElseIsToldAtOnce) {
  for (const std::string_view words : {std::string_view("HTTP/1.1 400 Bad Request\r\n"),
                                       std::string_view("SSH-2.0-OpenSSH_9.2\r\n"),
                                       std::string_view("\x15\x03\x01\0\2\2\x16xxxx", 11)}) {
    Http2Reader reader;
    give(reader, words);
    ASSERT_FALSE(reader.next()) << words;
    EXPECT_EQ(reader.next().error().code, Errc::kProtocol);
  }
  Http2Reader large;
  give(large, encode({4, 0, 0, {}}) + std::string("\xff\xff\xff\0\0\0\0\0\1", 9));
  ASSERT_TRUE(large.next());
  EXPECT_EQ(large.next().error().code, Errc::kLimit);
}

TEST(Http2, PaddingAndPriorityAreCutOff) {
  EXPECT_EQ(*http2_content({0, kHttp2Padded, 1, std::string("\2abc\0\0", 6)}), "abc");
  EXPECT_EQ(*http2_content({1, kHttp2Priority, 1, "12345abc"}), "abc");
  EXPECT_FALSE(http2_content({0, kHttp2Padded, 1,
                              "\x9"
                              "abc"}));
  EXPECT_FALSE(http2_content({0, kHttp2Padded, 1, ""}));
  EXPECT_FALSE(http2_content({1, kHttp2Priority, 1, "123"}));
}

// github.com/grpc/grpc, doc/health-checking.md: `string service = 1`, `ServingStatus status = 1`.
TEST(GrpcHealth, MessagesOfTheProtocol) {
  EXPECT_EQ(encode_health_request(""), "");
  EXPECT_EQ(encode_health_request("db"),
            "\x0a\x02"
            "db");
  EXPECT_EQ(encode_grpc_message("db"), std::string_view("\0\0\0\0\2db", 7));
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\2\x08\1", 7)), 1);
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\0", 5)), 0) << "UNKNOWN is left out";
  // A field of years to come.
  EXPECT_EQ(*parse_health_response(std::string_view("\0\0\0\0\6\x12\2xx\x08\2", 11)), 2);
  for (const std::string_view bad :
       {std::string_view("\0\0\0\0\2\x08", 6), std::string_view("", 0),
        std::string_view("\1\0\0\0\2\x08\1", 7), std::string_view("\0\0\0\0\2\x08\x80", 7),
        std::string_view("\0\0\0\0\2\x0a\7", 7)})
    EXPECT_FALSE(parse_health_response(bad));
}

TEST(GrpcHealth, HeadersOfAnAnswer) {
  EXPECT_TRUE(check_grpc_headers({{":status", "200"}, {"content-type", "application/grpc"}}));
  EXPECT_FALSE(check_grpc_headers({{":status", "502"}, {"content-type", "text/html"}}));
  EXPECT_FALSE(check_grpc_headers({{":status", "200"}, {"content-type", "text/html"}}));
  const auto status = find_grpc_status({{"grpc-status", "5"}, {"grpc-message", "no%20such%"}});
  ASSERT_TRUE(status && *status);
  EXPECT_EQ((*status)->code, 5);
  EXPECT_EQ((*status)->message, "no such%");
  EXPECT_FALSE(find_grpc_status({{"grpc-status", "x"}}));
  EXPECT_EQ(*find_grpc_status({}) ? 1 : 0, 0);
}

TEST(GrpcHealth, TheServerLearnsOurDeadline) {
  const auto timeout_of = [](Duration left) {
    HpackDecoder decoder;
    for (const HeaderField& field : *decoder.decode(encode_grpc_headers("http", "a:1", "/x", left)))
      if (field.name == "grpc-timeout") return field.value;
    return std::string();
  };
  EXPECT_EQ(timeout_of(1500ms), "1500m");
  EXPECT_EQ(timeout_of(0ms), "1m");
}

}  // namespace
}  // namespace wardmote::codec
