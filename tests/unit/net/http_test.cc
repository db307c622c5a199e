#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <vector>

#include "net/http_fetch.h"
#include "net/http_server.h"
#include "net/http_text.h"
#include "net/tls/tls_layer.h"
#include "runtime/event.h"
#include "support/authority.h"
#include "unit/net/http_fixture.h"

namespace wardmote::net {
namespace {

TEST_F(Http, ServesOverUnixAndTcp) {
  serve();
  const auto response = fetch({.method = "GET", .path = "/livez", .query = "verbose"});
  ASSERT_TRUE(response) << response.error().describe();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "GET /livez?verbose\n");
  EXPECT_EQ(response->content_type, "text/plain; charset=utf-8");

  StreamHttpServer tcp(runtime_);
  const Endpoint port = Endpoint::tcp("127.0.0.1", free_port());
  ASSERT_TRUE(tcp.start(port, {}, echo));
  const auto over_tcp =
      run_task(runtime_, http_fetch(runtime_, port, {.method = "GET", .path = "/missing"}, in(5s)));
  ASSERT_TRUE(over_tcp);
  EXPECT_EQ(over_tcp->status, 404);
  runtime_.run(tcp.stop());
}

TEST_F(Http, CarriesBodiesAndDecodesPaths) {
  serve();
  const auto response =
      fetch({.method = "POST", .path = "/a b/ü%", .body = std::string(100'000, 'x')});
  ASSERT_TRUE(response) << response.error().describe();
  EXPECT_EQ(response->body, "POST /a b/ü%?\n" + std::string(100'000, 'x'));
}

TEST_F(Http, HeadHasTheLengthAndNoBody) {
  serve();
  const auto response = fetch({.method = "HEAD", .path = "/x"});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "");
  const std::string raw = exchange("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(raw.contains("Content-Length: 8\r\n")) << raw;
  EXPECT_TRUE(raw.ends_with("\r\n\r\n")) << raw;
}

TEST_F(Http, KeepsConnectionsAndAnswersPipelinedRequestsInOrder) {
  serve();
  const std::string raw = exchange(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_LT(raw.find("GET /1"), raw.find("GET /2"));
  EXPECT_LT(raw.find("GET /2"), raw.find("GET /3"));
  EXPECT_NE(raw.find("GET /3"), std::string::npos);
}

TEST_F(Http, Http10ClosesByItself) {
  serve();
  EXPECT_EQ(status_line(exchange("GET /old HTTP/1.0\r\n\r\n")), "HTTP/1.1 200 OK");
}

TEST_F(Http, TakesAbsoluteTargetsAndChunkedBodies) {
  serve();
  EXPECT_TRUE(exchange("GET http://a:1/p?q HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                  .ends_with("GET /p?q\n"));
  EXPECT_TRUE(
      exchange(
          "POST /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
          "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
          .ends_with("POST /c?\nabcde"));
}

TEST_F(Http, AClientMayWaitToBeAskedForItsBody) {
  serve();
  const auto stream = open();
  send(*stream,
       "POST /e HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\nExpect: "
       "100-continue\r\n\r\n");
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(run_task(runtime_, read_exactly(stream.get(), interim.size(), in(5s))), interim);
  send(*stream, "ok");
  EXPECT_TRUE(read_all(*stream).ends_with("POST /e?\nok"));
}

TEST_F(Http, WhatIsNoHttpIs400AndTheEnd) {
  serve();
  for (const char* bytes :
       {"\x16\x03\x01\x02", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%0 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    const auto stream = open();
    send(*stream, bytes);
    const std::string line = "HTTP/1.1 400 Bad Request";
    EXPECT_EQ(run_task(runtime_, read_exactly(stream.get(), line.size(), in(5s))), line) << bytes;
  }
}

/// What follows would be read as another request by one and as a body by the other.
/// A proxy that forbids `/a/b` would let it through.
TEST_F(Http, AHandlerThatThrowsIsA500AndTheServerLives) {
  serve();
  EXPECT_EQ(fetch({.method = "GET", .path = "/throw"})->status, 500);
  EXPECT_EQ(fetch({.method = "GET", .path = "/"})->status, 200);
}

/// Slowloris: a byte now and then must not keep a request alive.
TEST_F(Http, AnIdleConnectionIsClosed) {
  serve({.idle_timeout = 20ms});
  const auto stream = open();
  EXPECT_EQ(read_all(*stream), "");
}

/// An answer that is longer than what the kernel takes for a client that does not read.
TEST_F(Http, StopEndsIdleConnectionsAtOnce) {
  serve();
  const auto stream = open();
  send(*stream, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_task(runtime_, read_exactly(stream.get(), 15, in(5s))));
  const TimePoint begun = runtime_.now();
  runtime_.run(server_.stop());
  EXPECT_LT(runtime_.now() - begun, 5s);
  EXPECT_FALSE(std::filesystem::exists(path("api.sock")));
}

TEST_F(Http, APortGoesOverToTlsAndWhatStandsEndsWithItsAnswer) {
  wardmote::testing::Authority authority(folder_, "ours");
  const wardmote::testing::Identity identity = authority.issue("server", "IP:127.0.0.1");
  runtime_.use_tls(tls::make_tls_layer());
  const std::uint16_t port = free_port();
  const Endpoint secured = Endpoint::tls_over_tcp(
      "127.0.0.1", port, {.certificate = identity.certificate, .key = identity.key});
  StreamHttpServer server(runtime_);
  at_ = Endpoint::tcp("127.0.0.1", port);
  ASSERT_TRUE(server.start(at_, {}, [&](const HttpRequest& request) {
    if (request.path == "/change") {
      EXPECT_TRUE(server.change_to(secured));
    }
    return echo(request);
  }));
  const auto idle = open();
  send(*idle, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_task(runtime_, read_exactly(idle.get(), 15, in(5s))));
  const std::string told = exchange("GET /change HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(told.contains("Connection: close\r\n")) << told;
  EXPECT_TRUE(told.ends_with("GET /change?\n"))
      << "whoever asked for it hears the answer: " << told;
  EXPECT_TRUE(read_all(*idle).ends_with("GET /1?\n")) << "and closed";

  EXPECT_FALSE(fetch({.method = "GET", .path = "/2"})) << "nobody is served without TLS any more";
  at_ = Endpoint::tls_over_tcp("127.0.0.1", port, {.ca = authority.file()});
  const auto over_tls = fetch({.method = "GET", .path = "/3"});
  ASSERT_TRUE(over_tls) << over_tls.error().describe();
  EXPECT_EQ(over_tls->body, "GET /3?\n");
  runtime_.run(server.stop());
}

TEST_F(Http, AStreamHasNoLengthAndEndsTheConnection) {
  serve();
  const std::string raw = exchange("GET /countdown HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(raw.contains("Content-Length")) << raw;
  EXPECT_TRUE(raw.contains("Connection: close\r\n")) << raw;
  EXPECT_TRUE(raw.ends_with("\r\n\r\n3\n2\n1\n")) << raw;
  EXPECT_EQ(fetch({.method = "GET", .path = "/countdown"})->body, "3\n2\n1\n");
  EXPECT_TRUE(exchange("HEAD /countdown HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("\r\n\r\n"));
}

TEST_F(Http, AnAnswerWaitsForWhatItSays) {
  const auto moment = std::make_shared<Moment>(runtime_);
  StreamHttpServer server(runtime_);
  ASSERT_TRUE(server.start(unix_at("held.sock"), {}, [&](const HttpRequest&) {
    HttpResponse response{.status = 201, .body = "written"};
    response.headers.emplace_back("X-Kept", "yes");
    response.hold = moment;
    return response;
  }));
  at_ = unix_at("held.sock");
  const auto first = fetch({.method = "POST", .path = "/"});
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_TRUE(moment->waited);
  EXPECT_EQ(first->status, 201);
  EXPECT_EQ(first->body, "written");
  moment->good = false;
  const auto second = fetch({.method = "POST", .path = "/"});
  ASSERT_TRUE(second) << second.error().describe();
  EXPECT_EQ(second->status, 503);
  EXPECT_EQ(second->body, "not written");
  EXPECT_TRUE(std::ranges::count(second->headers,
                                 std::pair<std::string, std::string>("x-kept", "yes")) == 1);
  runtime_.run(server.stop());
}

TEST_F(Http, KnowsWhoAsks) {
  serve();
  EXPECT_EQ(fetch({.method = "GET", .path = "/who"})->body,
            fmt::format("{} {} {}", ::geteuid(), ::getegid(), ::getpid()));
  StreamHttpServer tcp(runtime_);
  const Endpoint port = Endpoint::tcp("127.0.0.1", free_port());
  ASSERT_TRUE(tcp.start(port, {}, echo));
  const auto over_tcp =
      run_task(runtime_, http_fetch(runtime_, port, {.method = "GET", .path = "/who"}, in(5s)));
  EXPECT_TRUE(over_tcp->body.starts_with("127.0.0.1:")) << over_tcp->body;
  runtime_.run(tcp.stop());
}

TEST_F(Http, FetchSaysWhyItFailed) {
  at_ = unix_at("nobody");
  EXPECT_EQ(fetch({.method = "GET", .path = "/"}).error().code, Errc::kMissing);
}

RC_GTEST_PROP(HttpMessage, ARequestIsTheSameHoweverItsBytesAreCut, ()) {
  const std::string request =
      "POST /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-Y: z\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET /next";
  HttpRequestReader reader(runtime::HttpLimits{});
  std::string received;
  for (std::size_t at = 0; at < request.size() && !reader.done();) {
    const std::size_t size = *rc::gen::inRange<std::size_t>(1, 20);
    received += request.substr(at, size);
    at += size;
    RC_ASSERT(reader.feed(received).has_value());
  }
  RC_ASSERT(reader.done());
  const Result<HttpRequest> taken = reader.take();
  RC_ASSERT(taken.has_value());
  RC_ASSERT(taken->path == "/a b");
  RC_ASSERT(taken->query == "c=d");
  RC_ASSERT(taken->body == "hello world");
  RC_ASSERT(std::string_view("GET /next").starts_with(received));
}

RC_GTEST_PROP(HttpMessage, NoBytesCrashTheReader, (const std::string& bytes)) {
  HttpRequestReader reader({.header_bytes = 256, .body_bytes = 64});
  std::string received = "GET / HTTP/1.1\r\n" + bytes;
  const Result<void> fed = reader.feed(received);
  if (fed && reader.done()) (void)reader.take();
}

TEST(HttpMessage, ALastChunkMayComeByteByByte) {
  for (const std::string_view body : {"0\r\n\r\n", "0\r\nA: b\r\n\r\n", "1\r\nx\r\n0\r\n\r\n"}) {
    HttpRequestReader reader({.header_bytes = 256, .body_bytes = 64});
    std::string bytes = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const char c : body) {
      ASSERT_FALSE(reader.done());
      bytes += c;
      ASSERT_TRUE(reader.feed(bytes));
    }
    EXPECT_TRUE(reader.done()) << body;
    EXPECT_EQ(reader.take()->body, body.starts_with('1') ? "x" : "");
  }
}

TEST(HttpMessage, ALineOfAChunkThatNeverEndsIsALimit) {
  HttpRequestReader reader({.header_bytes = 256, .body_bytes = 64});
  std::string bytes = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=";
  ASSERT_TRUE(reader.feed(bytes));
  Result<void> fed;
  while (fed && bytes.size() < 10'000) {
    bytes += std::string(16, 'a');
    fed = reader.feed(bytes);
  }
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, Errc::kLimit);
  EXPECT_LE(bytes.size(), 256U + 16U);
}

TEST(HttpText, DatesAreThoseOfRfc9110) {
  EXPECT_EQ(http_date(WallTime(784111777s)), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpText, NoHeaderValueCanAddAHeader) {
  std::string head;
  append_header(head, "X", "a\r\nSet-Cookie: b");
  EXPECT_EQ(head, "X: a  Set-Cookie: b\r\n");
}

}  // namespace
}  // namespace wardmote::net
