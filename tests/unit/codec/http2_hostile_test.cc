#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/http2_session.h"
#include "support/http2_bytes.h"

namespace wardmote::codec {
namespace {

using testing::encode;
using testing::headers_frame;
using testing::hpack_block;
using testing::hpack_text;
using testing::Http2Frame;

const HeaderFields kRequest{
    {":method", "POST"}, {":scheme", "http"}, {":path", "/a/B"}, {":authority", "db:2379"}};
const HeaderFields kGood{{":status", "200"}};
const Http2Frame kSettings{4, 0, 0, ""};

/// A client with a call on stream 1, which has heard the settings of the server.
class Hostile : public ::testing::Test {
 protected:
  Hostile() {
    EXPECT_EQ(*client_.open(kRequest), 1);
    EXPECT_TRUE(client_.send(1, "x", true));
    client_.take_output();
    EXPECT_TRUE(client_.receive(encode(kSettings)));
    client_.take_output();
  }

  /// Sends the same again and again: 10 MB, unless the client ends it.
  Error flood(const std::vector<Http2Frame>& frames) {
    const std::string bytes = encode(frames);
    std::size_t sent = 0;
    std::size_t answered = 0;
    while (sent < 10'000'000) {
      const Result<void> received = client_.receive(bytes);
      sent += bytes.size();
      answered += client_.take_output().size();
      if (received) continue;
      EXPECT_LE(sent, (256U << 10) + bytes.size());
      EXPECT_LE(answered, 2 * sent);
      return received.error();
    }
    return {Errc::kInternal, "it was taken"};
  }
  Error refuse(std::string_view bytes) {
    const Result<void> received = client_.receive(bytes);
    if (received) return {Errc::kInternal, "it was taken"};
    EXPECT_EQ(client_.receive(encode(kSettings)), received) << "it is over";
    EXPECT_EQ(client_.open(kRequest).error(), received.error());
    EXPECT_FALSE(client_.takes_calls());
    return received.error();
  }
  Error refuse(const Http2Frame& frame) { return refuse(encode(frame)); }

  Http2Session client_;
};

TEST(Http2, WhatSpeaksSomethingElseIsToldAtOnce) {
  for (const std::string_view words : {std::string_view("HTTP/1.1 400 Bad Request\r\n"),
                                       std::string_view("SSH-2.0-OpenSSH_9.2\r\n"),
                                       std::string_view("\x15\x03\x01\0\2\2\x16xxxx", 11)}) {
    Http2Session client;
    const Result<void> received = client.receive(words);
    ASSERT_FALSE(received) << words;
    EXPECT_EQ(received.error().code, Errc::kProtocol);
    EXPECT_TRUE(received.error().context.starts_with("this is not HTTP/2: '")) << words;
  }
  Http2Session client;
  EXPECT_EQ(
      client.receive("HTTP/1.1 400 \x1b[31mBad Request, and much more of it\r\n").error().context,
      "this is not HTTP/2: 'HTTP/1.1 400 \\x1b[31mBad Request…'");
}

TEST_F(Hostile, FloodOfPings) {
  EXPECT_EQ(flood({{6, 0, 0, "12345678"}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfSettings) {
  EXPECT_EQ(flood({kSettings}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfSettingsThatChange) {
  EXPECT_EQ(flood({{4, 0, 0, std::string("\0\1\0\0\0\0\0\1\0\0\x10\0", 12)}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfFramesThatNobodyKnows) {
  EXPECT_EQ(flood({{0xfa, 0, 0, ""}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfWindowUpdates) {
  EXPECT_EQ(flood({{8, 0, 0, std::string("\0\0\0\1", 4)}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfPriorities) {
  EXPECT_EQ(flood({{2, 0, 1, std::string("\0\0\0\0\1", 5)}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfEmptyData) {
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, kGood))));
  EXPECT_EQ(flood({{0, 0, 1, ""}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfPaddingWithoutData) {
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, kGood))));
  EXPECT_EQ(flood({{0, 8, 1, '\xff' + std::string(255, '\0')}}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfInterimAnswers) {
  EXPECT_EQ(flood({headers_frame(1, {{":status", "103"}})}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOnACallThatIsClosed) {
  client_.close(1);
  EXPECT_EQ(flood({headers_frame(1, kGood)}).code, Errc::kLimit);
}
TEST_F(Hostile, FloodOfGoodbyes) {
  EXPECT_EQ(flood({{7, 0, 0, std::string("\0\0\0\1\0\0\0\0", 8)}}).code, Errc::kLimit);
}
TEST_F(Hostile, ByteAfterByteBetweenPings) {
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, kGood))));
  std::vector<Http2Frame> frames(1000, {6, 0, 0, "12345678"});
  frames.push_back({0, 0, 1, "x"});
  EXPECT_EQ(flood(frames).code, Errc::kLimit) << "a byte does not make up for 17,000";
}

TEST_F(Hostile, DataInSmallPiecesIsNoFlood) {
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, kGood))));
  const std::string frame = encode(Http2Frame{0, 0, 1, "x"});
  for (int i = 0; i < 100'000; ++i) {
    const Result<void> received = client_.receive(frame);
    ASSERT_TRUE(received) << received.error().describe();
    client_.take_data(1);
    client_.take_output();
  }
}

TEST_F(Hostile, PingsWhileARequestGoesOnAreNoFlood) {
  const auto call = client_.open(kRequest);
  ASSERT_TRUE(call);
  client_.take_output();
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(client_.send(*call, "x", false));
    ASSERT_TRUE(
        client_.receive(encode({{8, 0, 3, std::string("\0\0\0\1", 4)}, {6, 0, 0, "12345678"}})));
    client_.take_output();
  }
}

TEST_F(Hostile, PingsBetweenCallsAreNoFlood) {
  client_.close(1);
  for (int i = 0; i < 100; ++i) {
    const auto call = client_.open(kRequest);
    ASSERT_TRUE(call);
    for (int ping = 0; ping < 1000; ++ping)
      ASSERT_TRUE(client_.receive(encode(Http2Frame{6, 0, 0, "12345678"})));
    client_.take_output();
    client_.close(*call);
  }
}

// CVE-2024-28182 and its like.
TEST_F(Hostile, HeadersWithoutAnEnd) {
  ASSERT_TRUE(client_.receive(encode(Http2Frame{1, 0, 1, "\x88"})));
  EXPECT_EQ(flood({{9, 0, 1, ""}}).code, Errc::kLimit);
}
TEST(Http2, HeadersUpToTheLastByte) {
  // RFC 9113 6.5.2: `:status`, `200` and 32.
  for (const std::size_t limit : {41U, 42U}) {
    Http2Session client({.header_bytes = limit});
    ASSERT_TRUE(client.open(kRequest));
    client.take_output();
    EXPECT_EQ(client.receive(encode({kSettings, headers_frame(1, kGood)})).has_value(),
              limit == 42U);
  }
}

TEST_F(Hostile, HeadersWithoutAnEndOfACallThatIsClosed) {
  client_.close(1);
  client_.take_output();
  ASSERT_TRUE(client_.receive(encode(Http2Frame{1, 0, 1, "\x88"})));
  EXPECT_EQ(flood({{9, 0, 1, hpack_block({{"x", "y"}})}}).code, Errc::kLimit);
}

TEST_F(Hostile, LongHeadersInPieces) {
  std::string bytes = encode(Http2Frame{1, 0, 1, hpack_block(kGood)});
  const std::string field = hpack_block({{"x", std::string(4000, 'x')}});
  for (int i = 0; i < 5; ++i) bytes += encode(Http2Frame{9, 0, 1, field});
  EXPECT_EQ(refuse(bytes), (Error{Errc::kLimit, "headers over 16384 bytes"}));
}

TEST_F(Hostile, ManyShortHeaders) {
  HeaderFields fields = kGood;
  for (int i = 0; i < 500; ++i) fields.push_back({"x", ""});
  EXPECT_EQ(refuse(headers_frame(1, fields)).code, Errc::kLimit) << "each costs 32 more";
}

// RFC 7541 7.3: a field that is remembered comes back for a byte.
TEST_F(Hostile, HeadersThatGrow) {
  const std::string field = "\x40" + hpack_text("x") + hpack_text(std::string(4000, 'x'));
  const Http2Frame frame{1, testing::kEndHeaders, 1, "\x88" + field + std::string(10'000, '\xbe')};
  EXPECT_EQ(refuse(frame), (Error{Errc::kLimit, "headers over 16384 bytes"}));
}

TEST_F(Hostile, HeadersThatAreBroken) {
  using namespace std::string_view_literals;
  // RFC 7541: entry 0; an entry that nobody made; a number without an end; a text that is cut; a
  // table larger than announced; the end's own Huffman code; Huffman padding that is no ones.
  for (const std::string_view block :
       {"\x80"sv, "\xbe"sv, "\xff\xff\xff\xff\xff\xff\x7f"sv, "\x40\x0a\x63\x75"sv,
        "\x3f\xe2\xff\x01"sv, "\0\x84\xff\xff\xff\xff\0"sv, "\0\x81\0\0"sv}) {
    Http2Session client;
    ASSERT_TRUE(client.open(kRequest));
    client.take_output();
    const Result<void> received =
        client.receive(encode({kSettings, {1, testing::kEndHeaders, 1, std::string(block)}}));
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, Errc::kProtocol) << received.error().describe();
  }
}

TEST_F(Hostile, AnAnswerAgainstTheRulesFailsItsCallOnly) {
  const auto other = client_.open(kRequest);
  ASSERT_TRUE(other);
  client_.take_output();
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, {{"x", "no status"}}))));
  ASSERT_TRUE(client_.call(1).ended);
  EXPECT_EQ(client_.call(1).failure->code, Errc::kProtocol);
  ASSERT_TRUE(client_.receive(encode(headers_frame(3, kGood, true))));
  EXPECT_TRUE(client_.call(*other).ended);
  EXPECT_FALSE(client_.call(*other).failure);
}

TEST_F(Hostile, AnAnswerAgainstTheRulesOfAServerThatGoesAway) {
  ASSERT_TRUE(client_.receive(
      encode({{7, 0, 0, std::string("\0\0\0\1\0\0\0\0", 8)}, headers_frame(1, {{"x", "y"}})})));
  ASSERT_TRUE(client_.call(1).failure);
  EXPECT_EQ(client_.call(1).failure->code, Errc::kProtocol) << "it had looked at this one";
}

TEST_F(Hostile, DataBeforeTheHeaders) {
  EXPECT_EQ(refuse({0, 0, 1, "early"}).code, Errc::kProtocol);
}

TEST_F(Hostile, MoreDataThanTheWindow) {
  ASSERT_TRUE(client_.receive(encode(headers_frame(1, kGood))));
  const std::string frame = encode(Http2Frame{0, 0, 1, std::string(10'000, 'x')});
  for (int i = 0; i < 7; ++i) {
    ASSERT_FALSE(client_.call(1).ended);
    ASSERT_TRUE(client_.receive(frame));
  }
  EXPECT_LE(client_.call(1).data.size(), 65'535U);
  ASSERT_TRUE(client_.call(1).ended);
  EXPECT_EQ(*client_.call(1).failure, (Error{Errc::kProtocol, "more data than its window takes"}));
  EXPECT_TRUE(client_.takes_calls()) << "the other calls go on";
}

TEST(Http2, MoreDataThanASmallWindowThatIsNotAcknowledged) {
  Http2Session client({.window = 10});
  ASSERT_TRUE(client.open(kRequest));
  client.take_output();
  ASSERT_TRUE(
      client.receive(encode({kSettings, headers_frame(1, kGood), {0, 0, 1, "0123456789"}})));
  EXPECT_FALSE(client.call(1).ended);
  ASSERT_TRUE(client.receive(encode(Http2Frame{0, testing::kEndStream, 1, "x"})));
  ASSERT_TRUE(client.call(1).failure) << "and not an answer without its last byte";
  EXPECT_EQ(client.call(1).failure->code, Errc::kProtocol);
}

TEST_F(Hostile, FramesOverTheSizeThatWeTake) {
  EXPECT_EQ(refuse(std::string_view("\x00\x40\x01\x00\x00\x00\x00\x00\x01", 9)).code,
            Errc::kProtocol);
}
TEST_F(Hostile, Pushes) {
  const Http2Frame push{5, testing::kEndHeaders, 1, std::string("\0\0\0\2\x82", 5)};
  ASSERT_TRUE(client_.receive(encode(push)));
  EXPECT_EQ(testing::frames_in(client_.take_output()),
            (std::vector<Http2Frame>{{3, 0, 2, std::string("\0\0\0\x8", 4)}}))
      << "reset, as long as the server has not acknowledged that there are to be none";
  ASSERT_TRUE(client_.receive(encode(Http2Frame{4, 1, 0, ""})));
  EXPECT_EQ(refuse({5, testing::kEndHeaders, 1, std::string("\0\0\0\4\x82", 5)}).code,
            Errc::kProtocol);
}
TEST_F(Hostile, AnswersToCallsThatWereNotMade) {
  EXPECT_EQ(refuse(headers_frame(5, kGood)).code, Errc::kProtocol);
}
TEST_F(Hostile, FramesThatAreCut) {
  EXPECT_EQ(refuse({6, 0, 0, "1234567"}).code, Errc::kProtocol);
}
TEST_F(Hostile, AWindowThatOverflows) {
  EXPECT_EQ(refuse({8, 0, 0, "\x7f\xff\xff\xff"}).code, Errc::kProtocol);
}
TEST_F(Hostile, ContinuationsOfNothing) {
  EXPECT_EQ(refuse({9, 0, 1, "\x88"}).code, Errc::kProtocol);
}
TEST_F(Hostile, MoreSettingsThanThereAre) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += std::string("\0\3\0\0\0\1", 6);
  EXPECT_EQ(refuse({4, 0, 0, many}).code, Errc::kLimit);
}
TEST_F(Hostile, ResetsOfCallsThatAreOver) {
  EXPECT_TRUE(client_.receive(encode({3, 0, 1, std::string("\0\0\0\7", 4)})));
  EXPECT_TRUE(client_.call(1).ended);
  EXPECT_EQ(flood({{3, 0, 1, std::string("\0\0\0\7", 4)}}).code, Errc::kLimit);
}

TEST_F(Hostile, PiecesOfAnySizeReadTheSame) {
  const std::string trailers = encode(
      {{1, testing::kEndStream, 1, ""}, {9, testing::kEndHeaders, 1, hpack_block({{"a", "b"}})}});
  const std::string all =
      encode({headers_frame(1, kGood), {0, 8, 1, std::string("\2abc\0\0", 6)}}) + trailers;
  for (const char byte : all) ASSERT_TRUE(client_.receive(std::string_view(&byte, 1)));
  EXPECT_EQ(client_.call(1).headers, kGood);
  EXPECT_EQ(client_.call(1).trailers, (HeaderFields{{"a", "b"}}));
  EXPECT_TRUE(client_.call(1).ended);
  EXPECT_EQ(client_.take_data(1), "abc");
}

}  // namespace
}  // namespace wardmote::codec
