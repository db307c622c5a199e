#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "runtime/event.h"
#include "unit/net/http_fixture.h"

namespace wardmote::net {
namespace {

TEST_F(Http, ACodingThatIsNotKnownIsRefusedAndSoIsASecondHost) {
  serve();
  const std::string next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string smuggles =
      exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + next);
  EXPECT_FALSE(smuggles.contains("/smuggled")) << smuggles;
  for (const char* coding : {"foo", "gzip, chunked", "chunked, foo", "identity", "xchunked"}) {
    EXPECT_EQ(first_line("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + std::string(coding) +
                         "\r\n\r\n"),
              "HTTP/1.1 501 Not Implemented")
        << coding;
  }
  for (const char* head :
       {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: foo\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "chunked\r\n"}) {
    const std::string line = first_line(head + std::string("\r\n0\r\n\r\n"));
    EXPECT_TRUE(line.starts_with("HTTP/1.1 501") || line.starts_with("HTTP/1.1 400")) << line;
  }
  EXPECT_EQ(first_line("POST / HTTP/1.0\r\nTransfer-Encoding: foo\r\n\r\n" + next),
            "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(first_line("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(first_line("GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n"), "HTTP/1.1 400 Bad Request");
}

TEST_F(Http, APathMayNotHideItsSlashes) {
  serve();
  for (const char* path : {"/a%2Fb", "/a%2fb", "/%2F"}) {
    EXPECT_EQ(first_line("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n"),
              "HTTP/1.1 400 Bad Request")
        << path;
  }
  EXPECT_TRUE(exchange("GET /a?b=%2F HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                  .ends_with("GET /a?b=%2F\n"));
}

TEST_F(Http, WhoMayNotAskIsToldSoBeforeHisBodyIsRead) {
  std::vector<std::string> asked;
  serve(unix_at("api.sock"), {}, [&](const HttpRequest& head) -> std::optional<HttpResponse> {
    asked.push_back(head.method + " " + head.path);
    EXPECT_TRUE(head.body.empty());
    EXPECT_TRUE(head.peer.process);
    if (head.path == "/open") return std::nullopt;
    return HttpResponse{.status = 401, .body = "who are you?"};
  });
  const std::string announced = " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n";
  EXPECT_TRUE(exchange("POST /shut" + announced + "\r\n").ends_with("who are you?"))
      << "not a byte of the body has come";
  const std::string waits = exchange("POST /shut" + announced + "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_line(waits), "HTTP/1.1 401 Unauthorized") << "nobody is asked for it";
  EXPECT_TRUE(waits.contains("Connection: close\r\n"));
  EXPECT_EQ(status_line(exchange("POST /shut HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                                 "chunked\r\n\r\n")),
            "HTTP/1.1 401 Unauthorized");
  EXPECT_EQ(fetch({.method = "POST", .path = "/open", .body = "b"})->body, "POST /open?\nb");
  const std::vector<std::string> expected = {"POST /shut", "POST /shut", "POST /shut",
                                             "POST /open"};
  EXPECT_EQ(asked, expected) << "and who sends no body is asked for once, by the handler";
  EXPECT_EQ(fetch({.method = "GET", .path = "/shut"})->status, 200);
}

TEST_F(Http, ABodyThatDoesNotEndIsGivenUpInTime) {
  serve({.request_timeout = 60ms});
  const auto stream = open();
  send(*stream, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf of it");
  EXPECT_EQ(status_line(read_all(*stream)), "HTTP/1.1 408 Request Timeout");
}

TEST_F(Http, AllBodiesTogetherHaveABudget) {
  serve({.body_bytes = 1000, .bodies_bytes = 2500});
  const std::string half =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + std::string(500, 'x');
  const auto first = open();
  const auto second = open();
  send(*first, half);
  send(*second, half);
  runtime_.run(runtime_.sleep_until(runtime_.now() + 50ms));
  EXPECT_EQ(status_line(exchange(half)), "HTTP/1.1 503 Service Unavailable");
  EXPECT_EQ(fetch({.method = "POST", .path = "/", .body = std::string(400, 'y')})->status, 200);
  EXPECT_EQ(fetch({.method = "GET", .path = "/"})->status, 200);
  send(*second, std::string(500, 'x'));
  const std::string line = "HTTP/1.1 200 OK";
  EXPECT_EQ(run_task(runtime_, read_exactly(second.get(), line.size(), in(5s))), line);
  EXPECT_EQ(fetch({.method = "POST", .path = "/", .body = std::string(1000, 'z')})->status, 200)
      << "there is room again";
}

TEST_F(Http, LimitsAreTypedAnswers) {
  serve({.header_bytes = 512, .body_bytes = 100});
  const std::string long_header(2000, 'h');
  EXPECT_EQ(status_line(exchange("GET / HTTP/1.1\r\nHost: a\r\nX: " + long_header + "\r\n\r\n")),
            "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(fetch({.method = "POST", .path = "/", .body = std::string(101, 'b')})->status, 413);
  EXPECT_EQ(fetch({.method = "POST", .path = "/", .body = std::string(100, 'b')})->status, 200);
}

TEST_F(Http, OneDeadlineCoversAWholeRequest) {
  serve({.request_timeout = 60ms});
  const auto stream = open();
  const TimePoint begun = runtime_.now();
  constexpr auto drip = [](Runtime* runtime, Stream* to) -> Task<void> {
    const std::string request =
        "GET /slow HTTP/1.1\r\nHost: a\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
    const runtime::Deadline deadline = runtime->deadline_in(5s);
    for (const char& byte : request) {
      const Result<void> sent = co_await to->write(std::string_view(&byte, 1), deadline);
      if (!sent) co_return;
      co_await runtime->sleep_until(runtime->now() + 2ms);
      if (runtime->now() > deadline.at) co_return;
    }
  };
  runtime_.run(drip(&runtime_, stream.get()));
  EXPECT_EQ(status_line(read_all(*stream)), "HTTP/1.1 408 Request Timeout");
  EXPECT_LT(runtime_.now() - begun, 4s);
}

TEST_F(Http, WhenFullTheLongestIdleMakesRoom) {
  serve({.connections = 2});
  const auto first = open();
  send(*first, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_task(runtime_, read_exactly(first.get(), 15, in(5s))));
  const auto second = open();
  send(*second, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(run_task(runtime_, read_exactly(second.get(), 15, in(5s))));
  EXPECT_EQ(fetch({.method = "GET", .path = "/3"})->status, 200);
  EXPECT_TRUE(read_all(*first).ends_with("GET /1?\n"));  // and closed
}

TEST_F(Http, WhenFullWhoHasJustComeIsNotPutOut) {
  serve({.connections = 1});
  const auto first = open();
  const auto second = open();
  runtime_.run(runtime_.sleep_until(runtime_.now() + 20ms));
  send(*first, "GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_line(read_all(*first)), "HTTP/1.1 200 OK");
}

/// Long before it is called slow, because nobody else can make room.
TEST_F(Http, WhenFullWhoSendsARequestForLongestMakesRoom) {
  serve({.connections = 1});
  const auto first = open();
  send(*first, "GET /1 HTTP/1.1\r\n");
  runtime_.run(runtime_.sleep_until(runtime_.now() + 200ms));
  EXPECT_EQ(fetch({.method = "GET", .path = "/2"})->status, 200);
  EXPECT_EQ(read_all(*first), "");
}

HttpResponse long_answer(const std::shared_ptr<const std::string>& bytes) {
  return {.body = "head ", .shared = bytes};
}

TEST_F(Http, ALongAnswerIsSharedByWhoReadsAndWhoDoesNot) {
  const auto bytes = std::make_shared<const std::string>(3 << 20, 's');
  StreamHttpServer server(runtime_);
  at_ = unix_at("shared.sock");
  ASSERT_TRUE(server.start(at_, {}, [&](const HttpRequest&) { return long_answer(bytes); }));
  std::vector<std::unique_ptr<Stream>> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.push_back(open());
    send(*deaf.back(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  const auto read = fetch({.method = "GET", .path = "/"});
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->body, "head " + *bytes);
  EXPECT_EQ(fetch({.method = "HEAD", .path = "/"})->body, "");
  runtime_.run(runtime_.sleep_until(runtime_.now() + 20ms));
  EXPECT_GE(bytes.use_count(), 20) << "each holds the same";
  deaf.clear();
  runtime_.run(server.stop());
  EXPECT_EQ(bytes.use_count(), 1);
}

TEST_F(Http, AnswersThatNobodyReadsHaveABudget) {
  StreamHttpServer server(runtime_);
  at_ = unix_at("own.sock");
  const std::size_t size = 1 << 20;
  ASSERT_TRUE(server.start(at_, {.answers_bytes = 4 * size}, [&](const HttpRequest&) {
    return HttpResponse{.body = std::string(size, 'o')};
  }));
  std::vector<std::unique_ptr<Stream>> deaf;
  for (int i = 0; i < 6; ++i) {
    deaf.push_back(open());
    send(*deaf.back(), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    runtime_.run(runtime_.sleep_until(runtime_.now() + 5ms));
  }
  std::vector<bool> whole;
  for (const auto& stream : deaf) whole.push_back(read_all(*stream).size() > size);
  EXPECT_EQ(whole, (std::vector<bool>{false, false, true, true, true, true}))
      << "those that had the most time to read were cut off";
  EXPECT_EQ(fetch({.method = "GET", .path = "/"})->body.size(), size);
  runtime_.run(server.stop());
}

TEST_F(Http, WhoDoesNotTakeItsAnswerMakesRoomForOthers) {
  const auto bytes = std::make_shared<const std::string>(3 << 20, 's');
  StreamHttpServer server(runtime_);
  at_ = unix_at("slow.sock");
  ASSERT_TRUE(server.start(at_, {.connections = 2, .reserve = 0}, [&](const HttpRequest& request) {
    return request.path == "/long" ? long_answer(bytes) : echo(request);
  }));
  auto first = open();
  auto second = open();
  for (const auto* stream : {&first, &second}) {
    send(**stream, "GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  runtime_.run(runtime_.sleep_until(runtime_.now() + 1100ms));
  EXPECT_EQ(fetch({.method = "GET", .path = "/3"})->status, 200);
  first.reset();
  second.reset();
  runtime_.run(server.stop());
}

TEST_F(Http, TheReserveIsForWhatIsUrgent) {
  serve({.connections = 2, .reserve = 2});
  const auto first = open();
  const auto second = open();
  send(*first, "GET /1 HTTP/1.1\r\nHo");
  send(*second, "GET /2 HTTP/1.1\r\nHo");
  runtime_.run(runtime_.sleep_until(runtime_.now() + 20ms));
  const auto urgent = fetch({.method = "GET", .path = "/reserve"});
  ASSERT_TRUE(urgent) << urgent.error().describe();
  EXPECT_EQ(urgent->body, "on the reserve") << "the handler is told, and decides";
  send(*first, "st: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(read_all(*first).ends_with("GET /1?\n"));
  EXPECT_EQ(fetch({.method = "GET", .path = "/reserve"})->status, 404);
}

TEST_F(Http, StreamsTakeHalfOfTheConnections) {
  StreamHttpServer server(runtime_);
  at_ = unix_at("streams.sock");
  struct Endless final : runtime::HttpStream {
    explicit Endless(Runtime& runtime) : event(runtime.executor()) {}
    Task<std::shared_ptr<const std::string>> next() override {
      while (!ended) co_await event.wait();
      co_return nullptr;
    }
    void end() noexcept override {
      ended = true;
      event.notify();
    }
    runtime::Event event;
    bool ended = false;
  };
  ASSERT_TRUE(server.start(at_, {.connections = 6}, [&](const HttpRequest& request) {
    if (request.path != "/stream") return echo(request);
    HttpResponse response;
    response.stream = std::make_shared<Endless>(runtime_);
    return response;
  }));
  std::vector<std::unique_ptr<Stream>> readers;
  std::vector<std::string> lines;
  const std::string line = "HTTP/1.1 200 OK";
  for (int i = 0; i < 5; ++i) {
    readers.push_back(open());
    send(*readers.back(), "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    lines.push_back(
        run_task(runtime_, read_exactly(readers.back().get(), line.size(), in(5s))).value());
  }
  EXPECT_EQ(std::ranges::count(lines, line), 3);
  EXPECT_EQ(fetch({.method = "GET", .path = "/"})->status, 200);
  runtime_.run(server.stop());
}

TEST_F(Http, WhoDripsARequestMakesRoomForOthers) {
  serve({.connections = 2});
  const auto first = open();
  const auto second = open();
  send(*first, "GET /1 HTTP/1.1\r\nHo");
  send(*second, "GET /2 HTTP/1.1\r\nHo");
  runtime_.run(runtime_.sleep_until(runtime_.now() + 1100ms));
  EXPECT_EQ(fetch({.method = "GET", .path = "/3"})->status, 200);
  EXPECT_EQ(read_all(*first), "") << "the one that has dripped for longest";
}

}  // namespace
}  // namespace wardmote::net
