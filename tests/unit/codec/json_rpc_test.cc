#include "codec/json_rpc.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>

#include "support/ovn_captures.h"

namespace wardmote::codec {
namespace {

void feed(JsonFramer& framer, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = framer.room();
    const std::size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    framer.received(size);
    bytes.remove_prefix(size);
  }
}

void feed(JsonRpcReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

/// The messages of `stream`, fed in pieces of `step` bytes.
std::vector<std::string> cut(std::string_view stream, std::size_t step) {
  JsonFramer framer;
  std::vector<std::string> messages;
  while (!stream.empty()) {
    feed(framer, stream.substr(0, step));
    stream.remove_prefix(std::min(step, stream.size()));
    for (;;) {
      const auto message = framer.next();
      EXPECT_TRUE(message.has_value());
      if (!message || !*message) break;
      messages.emplace_back(**message);
    }
  }
  EXPECT_FALSE(framer.partial());
  return messages;
}

Errc error_of(std::string_view bytes, FrameLimits limits = {}) {
  JsonRpcReader reader(limits);
  feed(reader, bytes);
  for (;;) {
    const auto message = reader.next();
    if (!message) return message.error().code;
    if (!*message) return Errc::kInternal;
  }
}

/// A reader that holds one message.
struct Said {
  explicit Said(std::string_view bytes) {
    feed(reader, bytes);
    Result<std::optional<RpcMessage>> next = reader.next();
    EXPECT_TRUE(next && *next) << bytes;
    if (next && *next) message = **next;
  }
  JsonRpcReader reader;
  RpcMessage message;
};

TEST(JsonFramer, CutsConcatenatedCapturesWhateverThePieces) {
  const std::vector<std::string> said = testing::lines_after("04-raw-jsonrpc.txt", "<< ");
  ASSERT_GE(said.size(), 20U);
  std::string stream;
  for (const std::string& message : said) stream += message;
  for (const std::size_t step : {1UL, 2UL, 7UL, 1000UL, stream.size()})
    EXPECT_EQ(cut(stream, step), said) << step;
}

TEST(JsonFramer, BracesQuotesAndBackslashesInsideStringsDoNotCount) {
  const std::vector<std::string> said{R"({"a":"}{\"}]"})", R"({"b":"\\"})", R"({"c":"\\\""})",
                                      R"({"\\\\":["]"]})"};
  std::string stream;
  for (const std::string& message : said) stream += message + " \r\n";
  EXPECT_EQ(cut(stream, stream.size()), said);
  EXPECT_EQ(cut(stream, 1), said);
}

TEST(JsonFramer, GarbageBetweenObjectsIsNoProtocol) {
  EXPECT_EQ(error_of("HTTP/1.1 400 Bad Request"), Errc::kProtocol);
  EXPECT_EQ(error_of(R"({"id":1,"result":null},{"id":2})"), Errc::kProtocol);
  EXPECT_EQ(error_of("[1]"), Errc::kProtocol);
}

TEST(JsonFramer, CapsAreReachedBeforeTheMessageEnds) {
  constexpr FrameLimits kSmall{.message_bytes = 100, .depth = 8};
  EXPECT_EQ(error_of("{\"id\":1,\"result\":\"" + std::string(200, 'x'), kSmall), Errc::kLimit);
  EXPECT_EQ(error_of("{\"id\":1,\"result\":" + std::string(9, '['), kSmall), Errc::kLimit);
  EXPECT_EQ(error_of(R"({"id":1,"result":[[[[[[[1]]]]]]]})", kSmall), Errc::kInternal)
      << "8 deep is within the cap";
}

TEST(JsonFramer, AHundredMegabyteStringEndsAtTheCap) {
  JsonFramer framer;
  feed(framer, R"({"id":1,"result":")");
  const std::string piece(64 << 10, 'x');
  std::size_t fed = 0;
  Result<std::optional<std::string_view>> next = std::nullopt;
  while (fed < (100U << 20) && next) {
    feed(framer, piece);
    fed += piece.size();
    next = framer.next();
  }
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code, Errc::kLimit);
  EXPECT_LT(fed, 2U << 20);
}

RC_GTEST_PROP(JsonFramer, AnyCutOfAStreamGivesTheSameMessages, ()) {
  const auto strings =
      *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
  std::vector<std::string> said;
  std::string stream;
  for (const std::string& text : strings) {
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    said.push_back(R"({"x":[")" + escaped + R"("]})");
    stream += said.back() + "\n";
  }
  const auto step = *rc::gen::inRange<std::size_t>(1, 40);
  RC_ASSERT(cut(stream + " ", step).size() == said.size());
}

TEST(RpcMessage, KindsAndIds) {
  const Said request(R"({"id":"echo","method":"echo","params":[]})");
  EXPECT_EQ(request.message.kind, RpcMessage::Kind::kRequest);
  EXPECT_EQ(request.message.method, "echo");
  const Said notification(R"({"id":null,"method":"update3","params":["m"]})");
  EXPECT_EQ(notification.message.kind, RpcMessage::Kind::kNotification);
  const Said reply(R"({"id":7,"result":"text","error":null})");
  EXPECT_EQ(reply.message.kind, RpcMessage::Kind::kReply);
  EXPECT_TRUE(reply.message.answers(7));
  EXPECT_FALSE(reply.message.answers(8));
  EXPECT_FALSE(Said(R"({"id":"7","result":1})").message.answers(7));
  EXPECT_FALSE(Said(R"({"id":7.0,"result":1})").message.answers(7));
  EXPECT_FALSE(Said(R"({"id":-7,"result":1})").message.answers(7));
  EXPECT_FALSE(Said(R"({"id":[7],"result":1})").message.answers(7));
}

TEST(RpcMessage, WhatIsNoMessageIsNoProtocol) {
  for (const std::string_view text :
       {R"({})", R"({"id":1})", R"({"result":1})", R"({"method":3,"id":1})",
        R"({"id":1 "result":2})", R"({"id":1,"result":"\x"})", "{\"a\":\"\xff\xfe\"}"}) {
    EXPECT_EQ(error_of(text), Errc::kProtocol) << text;
  }
}

TEST(RpcMessage, ErrorsInAllThreePlaces) {
  const auto words = [](std::string_view reply) {
    const Said said(reply);
    const auto result = result_of(said.message);
    EXPECT_FALSE(result.has_value()) << reply;
    return result ? Error{} : result.error();
  };
  // As captured in 04-raw-jsonrpc.txt.
  EXPECT_EQ(words(R"({"id":1,"error":"unknown method"})"),
            (Error{Errc::kRejected, "unknown method"}));
  EXPECT_EQ(words(R"({"id":1,"error":"unknown cluster\n"})"),
            (Error{Errc::kRejected, "unknown cluster"}));
  EXPECT_EQ(
      words(
          R"({"id":1,"error":{"syntax":"[]","details":"transact request specifies unknown database NopeDB",)"
          R"("error":"unknown database"}})")
          .context,
      "unknown database: transact request specifies unknown database NopeDB");
  EXPECT_EQ(
      words(
          R"({"id":1,"result":[{"details":"No table named Nope.","error":"syntax error"}],"error":null})")
          .context,
      "syntax error: No table named Nope.");
  EXPECT_EQ(words(R"({"id":1,"error":{"odd":1}})").context, R"({"odd":1})");
  EXPECT_TRUE(is_unknown_method(words(R"({"id":1,"error":"unknown method"})")));
}

TEST(RpcMessage, RequestsAndEchoes) {
  std::string out;
  append_request(out, 7, "cluster/status", R"(["OVN_Northbound"])");
  EXPECT_EQ(out, R"({"id":7,"method":"cluster/status","params":["OVN_Northbound"]})");
  std::string echo;
  append_echo_reply(echo, Said(R"({"id":"echo","method":"echo","params":["x"]})").message);
  EXPECT_EQ(echo, R"({"id":"echo","result":["x"],"error":null})");
  EXPECT_EQ(json_string("a\"b\n"), R"("a\"b\n")");
}

TEST(JsonRpcReader, ReusesItsMemoryFromMessageToMessage) {
  JsonRpcReader reader;
  for (std::uint64_t id = 0; id < 1000; ++id) {
    feed(reader,
         fmt::format(R"({{"id":{},"result":"{}","error":null}})", id, std::string(id * 20, 'x')));
    const auto message = reader.next();
    ASSERT_TRUE(message && *message);
    EXPECT_TRUE((*message)->answers(id));
    EXPECT_EQ((*message)->result->get_string().size(), id * 20);
    const auto nothing = reader.next();
    ASSERT_TRUE(nothing && !*nothing);
  }
}

/// A look asks one connection after the other and comes back a second later: what a thousand
/// connections hold meanwhile is what an agent weighs.
TEST(JsonRpcReader, RestsBetweenMessagesAndKeepsHalfOfOne) {
  JsonRpcReader reader;
  feed(reader, R"({"id":1,"result":"a","error":null}{"id":2,"res)");
  ASSERT_TRUE(reader.next().value().value().answers(1));
  reader.rest();
  EXPECT_TRUE(reader.partial());
  EXPECT_FALSE(reader.next().value());
  feed(reader, R"(ult":"b","error":null})");
  ASSERT_TRUE(reader.next().value().value().answers(2));
  EXPECT_FALSE(reader.partial());
  reader.rest();
  EXPECT_FALSE(reader.next().value());
  feed(reader, R"({"id":3,"result":"c","error":null})");
  EXPECT_TRUE(reader.next().value().value().answers(3));
}

}  // namespace
}  // namespace wardmote::codec
