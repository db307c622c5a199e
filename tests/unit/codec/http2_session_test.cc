#include "codec/http2_session.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/http2_bytes.h"
#include "support/http2_server.h"

namespace wardmote::codec {
namespace {

using testing::Http2Server;

const HeaderFields kRequest{
    {":method", "POST"}, {":scheme", "http"}, {":path", "/a/B"}, {":authority", "db:2379"}};

/// Until neither has anything to say.
void exchange(Http2Session& client, Http2Server& server) {
  for (;;) {
    const std::string asked = client.take_output();
    server.receive(asked);
    const std::string answered = server.take_output();
    const Result<void> received = client.receive(answered);
    ASSERT_TRUE(received) << received.error().describe();
    if (asked.empty() && answered.empty()) return;
  }
}

Http2Session::CallId ask(Http2Session& client, std::string_view data) {
  const auto call = client.open(kRequest);
  EXPECT_TRUE(call) << call.error().describe();
  EXPECT_TRUE(client.send(*call, data, true));
  return *call;
}

std::string numbers(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + " ";
  return text.substr(0, size);
}

Http2Server::Handler answer_with(std::string data) {
  return [data](const Http2Server::Request&) { return Http2Server::Answer{data}; };
}

TEST(Http2Session, ACallHasHeadersDataAndTrailers) {
  Http2Session client;
  Http2Server server(answer_with("good"));
  const auto call = ask(client, "how are you");
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].headers, kRequest);
  EXPECT_EQ(server.requests[0].data, "how are you");
  const Http2Call& seen = client.call(call);
  EXPECT_TRUE(seen.ended);
  EXPECT_FALSE(seen.failure);
  EXPECT_EQ(seen.headers, (HeaderFields{{":status", "200"}, {"content-type", "application/grpc"}}));
  EXPECT_EQ(seen.trailers, (HeaderFields{{"grpc-status", "0"}}));
  EXPECT_EQ(client.take_data(call), "good");
  EXPECT_EQ(client.take_data(call), "");
  client.close(call);
  EXPECT_EQ(client.take_output(), "") << "it had ended: there is nothing to tell";
}

// RFC 9113 6.9.2: the window is 65,535 bytes until somebody gives more.
TEST(Http2Session, ACallThatEndsWellIsNotReset) {
  Http2Session client;
  Http2Server server(answer_with("good"));
  ask(client, "");
  server.receive(client.take_output());
  ASSERT_TRUE(client.receive(server.take_output()));
  for (const testing::Http2Frame& frame : testing::frames_in(client.take_output()))
    EXPECT_NE(frame.type, 3) << "RST_STREAM";
}

TEST(Http2Session, AnAnswerLargerThanTheWindowComesAsItIsTaken) {
  Http2Session client;
  const std::string large = numbers(200'000);
  Http2Server server(answer_with(large));
  const auto call = ask(client, "");
  exchange(client, server);
  EXPECT_EQ(client.call(call).data.size(), 65'535U) << "the server waits";
  EXPECT_FALSE(client.call(call).ended);
  std::string taken;
  for (int turns = 0; !client.call(call).ended && turns < 10; ++turns) {
    taken += client.take_data(call);
    exchange(client, server);
    EXPECT_LE(client.call(call).data.size(), 65'535U);
  }
  taken += client.take_data(call);
  EXPECT_EQ(taken, large);
  EXPECT_EQ(client.call(call).trailers.size(), 1U);
}

TEST(Http2Session, TheWindowIsWhatTheCallerSays) {
  for (const std::size_t window : {1'000U, 300'000U}) {
    Http2Session client({.window = window});
    Http2Server server(answer_with(numbers(400'000)));
    const auto call = ask(client, "");
    exchange(client, server);
    EXPECT_EQ(client.call(call).data.size(), window);
  }
}

TEST(Http2Session, TwoCallsAtOnceDoNotHoldUpEachOther) {
  Http2Session client;
  const std::string large = numbers(150'000);
  Http2Server server(answer_with(large));
  const auto waits = ask(client, "first");
  const auto taken = ask(client, "second");
  std::string data;
  for (int turns = 0; !client.call(taken).ended && turns < 10; ++turns) {
    exchange(client, server);
    data += client.take_data(taken);
  }
  EXPECT_EQ(data, large);
  // Nobody has taken a byte of the first one, which fills its own window and no other's.
  EXPECT_EQ(client.call(waits).data.size(), 65'535U);
  EXPECT_FALSE(client.call(waits).ended);
  data.clear();
  for (int turns = 0; !client.call(waits).ended && turns < 10; ++turns) {
    data += client.take_data(waits);
    exchange(client, server);
  }
  EXPECT_EQ(data + client.take_data(waits), large);
}

TEST(Http2Session, AnswersComeInAnyOrder) {
  Http2Session client;
  Http2Server server([](const Http2Server::Request&) { return std::nullopt; });
  const auto first = ask(client, "1");
  const auto second = ask(client, "2");
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 2U);
  server.answer(second, {"two"});
  exchange(client, server);
  EXPECT_TRUE(client.call(second).ended);
  EXPECT_FALSE(client.call(first).ended);
  server.answer(first, {"one"});
  exchange(client, server);
  EXPECT_EQ(client.take_data(first) + client.take_data(second), "onetwo");
}

TEST(Http2Session, ARequestLargerThanTheServersWindowGoesOnAsItIsRead) {
  Http2Session client;
  Http2Server server(answer_with(""));
  const std::string large = numbers(300'000);
  const auto call = ask(client, large);
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].data, large);
  EXPECT_TRUE(client.call(call).ended);
}

TEST(Http2Session, ARequestMayComeInParts) {
  Http2Session client;
  Http2Server server(answer_with("all"));
  const auto call = client.open(kRequest);
  ASSERT_TRUE(call);
  exchange(client, server);
  EXPECT_TRUE(client.send(*call, "a", false));
  exchange(client, server);
  EXPECT_TRUE(client.send(*call, "b", false));
  EXPECT_TRUE(client.send(*call, "c", true));
  EXPECT_TRUE(server.requests.empty());
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 1U);
  EXPECT_EQ(server.requests[0].data, "abc");
  EXPECT_EQ(client.take_data(*call), "all");
}

TEST(Http2Session, AServerThatTakesNothingIsNotBufferedForEver) {
  Http2Session client({.unsent = 1000});
  Http2Server server(answer_with(""), {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
  const auto call = client.open(kRequest);
  ASSERT_TRUE(call);
  exchange(client, server);
  EXPECT_TRUE(client.send(*call, std::string(1000, 'x'), false));
  const Result<void> more = client.send(*call, "x", false);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kLimit);
}

TEST(Http2Session, AnAnswerBeforeTheEndOfTheRequestEndsBoth) {
  Http2Session client;
  Http2Server server(answer_with(""), {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10}});
  const auto call = client.open(kRequest);
  ASSERT_TRUE(call);
  EXPECT_TRUE(client.send(*call, "more than ten bytes", false));
  exchange(client, server);
  server.answer(*call, {"no"});
  exchange(client, server);
  EXPECT_TRUE(client.call(*call).ended);
  EXPECT_FALSE(client.call(*call).failure);
  ASSERT_EQ(server.closes.size(), 1U);
  EXPECT_EQ(server.closes[0].second, NGHTTP2_CANCEL) << "the rest does not come";
  EXPECT_TRUE(client.send(*call, "", true));
  EXPECT_EQ(client.take_output(), "");
}

TEST(Http2Session, AClosedCallIsCancelledAndItsLateDataHoldsUpNobody) {
  Http2Session client;
  const std::string large = numbers(100'000);
  Http2Server server(answer_with(large));
  for (int i = 0; i < 5; ++i) {
    const auto call = ask(client, "");
    server.receive(client.take_output());
    client.close(call);
    ASSERT_TRUE(client.receive(server.take_output()));
    exchange(client, server);
  }
  ASSERT_EQ(server.closes.size(), 5U);
  EXPECT_EQ(server.closes[4].second, NGHTTP2_CANCEL);
  const auto call = ask(client, "");
  std::string data;
  for (int turns = 0; !client.call(call).ended && turns < 10; ++turns) {
    exchange(client, server);
    data += client.take_data(call);
  }
  EXPECT_EQ(data, large);
}

TEST(Http2Session, ACallThatIsClosedBeforeItIsSentIsNotSent) {
  Http2Session client;
  Http2Server server(answer_with(""));
  client.close(ask(client, "never mind"));
  exchange(client, server);
  EXPECT_TRUE(server.requests.empty());
  ask(client, "");
  exchange(client, server);
  EXPECT_EQ(server.requests.size(), 1U);
}

TEST(Http2Session, CallsAreCounted) {
  Http2Session client({.calls = 2});
  const auto first = client.open(kRequest);
  ASSERT_TRUE(first);
  ASSERT_TRUE(client.open(kRequest));
  const auto third = client.open(kRequest);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Errc::kLimit);
  client.close(*first);
  EXPECT_TRUE(client.open(kRequest));
}

TEST(Http2Session, CallsWaitUntilTheServerTakesThem) {
  Http2Session client;
  Http2Server server([](const Http2Server::Request&) { return std::nullopt; },
                     {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}});
  exchange(client, server);
  const auto first = ask(client, "1");
  const auto second = ask(client, "2");
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 1U);
  server.answer(first, {""});
  exchange(client, server);
  ASSERT_EQ(server.requests.size(), 2U);
  EXPECT_EQ(server.requests[1].stream, second);
}

TEST(Http2Session, AServerThatGoesAwayAnswersWhatItHas) {
  Http2Session client;
  Http2Server server([](const Http2Server::Request&) { return std::nullopt; });
  const auto first = ask(client, "1");
  exchange(client, server);
  const auto second = ask(client, "2");
  const std::string not_seen = client.take_output();
  // RFC 9113 6.8.
  nghttp2_submit_goaway(server.session(), NGHTTP2_FLAG_NONE, first, NGHTTP2_NO_ERROR, nullptr, 0);
  ASSERT_TRUE(client.receive(server.take_output()));
  EXPECT_FALSE(client.takes_calls());
  EXPECT_EQ(client.open(kRequest).error().code, Errc::kClosed);
  ASSERT_TRUE(client.call(second).ended);
  EXPECT_EQ(client.call(second).failure->code, Errc::kClosed) << "it may be asked elsewhere";
  EXPECT_FALSE(client.call(first).ended);
  server.answer(first, {"one"});
  ASSERT_TRUE(client.receive(server.take_output()));
  EXPECT_TRUE(client.call(first).ended);
  EXPECT_FALSE(client.call(first).failure);
  EXPECT_EQ(client.take_data(first), "one");
}

TEST(Http2Session, WhatWaitedToBeSentWhenTheServerWentAwayHasEnded) {
  Http2Session client;
  Http2Server server([](const Http2Server::Request&) { return std::nullopt; },
                     {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}});
  exchange(client, server);
  const auto first = ask(client, "1");
  const auto waits = ask(client, "2");
  exchange(client, server);
  nghttp2_submit_goaway(server.session(), NGHTTP2_FLAG_NONE, first, NGHTTP2_ENHANCE_YOUR_CALM,
                        nullptr, 0);
  ASSERT_TRUE(client.receive(server.take_output()));
  server.answer(first, {"one"});
  ASSERT_TRUE(client.receive(server.take_output()));
  client.take_output();
  EXPECT_EQ(client.take_data(first), "one");
  ASSERT_TRUE(client.call(waits).ended);
  EXPECT_EQ(client.call(waits).failure->describe(), "it goes away: ENHANCE_YOUR_CALM: rejected");
}

TEST(Http2Session, AResetIsNamed) {
  Http2Session client;
  Http2Server server([](const Http2Server::Request&) { return std::nullopt; });
  const auto first = ask(client, "");
  const auto second = ask(client, "");
  exchange(client, server);
  nghttp2_submit_rst_stream(server.session(), NGHTTP2_FLAG_NONE, first, NGHTTP2_REFUSED_STREAM);
  nghttp2_submit_rst_stream(server.session(), NGHTTP2_FLAG_NONE, second, 0x99);
  exchange(client, server);
  ASSERT_TRUE(client.call(first).failure);
  EXPECT_EQ(*client.call(first).failure,
            (Error{Errc::kRejected, "the call was reset: REFUSED_STREAM"}));
  EXPECT_EQ(client.call(second).failure->context, "the call was reset: error 153");
  EXPECT_TRUE(client.takes_calls());
}

TEST(Http2Session, PingsAndSettingsAreAcknowledged) {
  Http2Session client;
  client.take_output();
  ASSERT_TRUE(client.receive(
      testing::encode({{4, 0, 0, std::string("\0\3\0\0\0\x64", 6)}, {6, 0, 0, "12345678"}})));
  EXPECT_EQ(testing::frames_in(client.take_output()),
            (std::vector<testing::Http2Frame>{{4, 1, 0, ""}, {6, 1, 0, "12345678"}}));
  ASSERT_TRUE(client.receive(testing::encode(testing::Http2Frame{6, 1, 0, "12345678"})));
  EXPECT_EQ(client.take_output(), "") << "an acknowledgement is not acknowledged";
}

TEST(Http2Session, SaysFirstWhatItTakes) {
  Http2Session client({.header_bytes = 0x4321, .window = 0x12345});
  const std::string first = client.take_output();
  ASSERT_TRUE(first.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  const auto frames = testing::frames_in(first);
  ASSERT_GE(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, 4);
  // RFC 9113 6.5.2: no pushes, the window, the size of a header list.
  EXPECT_EQ(frames[0].payload, std::string("\0\2\0\0\0\0\0\4\0\x01\x23\x45\0\6\0\0\x43\x21", 18));
}

TEST(Http2Session, InterimAnswersAreNotTheAnswer) {
  Http2Session client;
  const auto call = ask(client, "");
  client.take_output();
  ASSERT_TRUE(client.receive(testing::encode({{4, 0, 0, ""},
                                              testing::headers_frame(1, {{":status", "103"}}),
                                              testing::headers_frame(1, {{":status", "100"}})})));
  EXPECT_TRUE(client.call(call).headers.empty());
  ASSERT_TRUE(
      client.receive(testing::encode(testing::headers_frame(1, {{":status", "404"}}, true))));
  EXPECT_EQ(client.call(call).headers, (HeaderFields{{":status", "404"}}));
  EXPECT_TRUE(client.call(call).ended);
}

}  // namespace
}  // namespace wardmote::codec
