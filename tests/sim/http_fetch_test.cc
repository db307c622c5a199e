#include "net/http_fetch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/fake_web.h"

namespace wardmote::sim {
namespace {

using runtime::Endpoint;
using runtime::HttpResponse;
using testing::FakeWeb;
using namespace std::chrono_literals;

class WebHost {
 public:
  explicit WebHost(World& world) : sim(world) {
    const auto spawn = [this](std::string name, runtime::Task<void> task) {
      host.spawn(std::move(name), std::move(task));
    };
    web = std::make_unique<FakeWeb>(host, spawn, kAt);
  }

  Result<HttpResponse> fetch(std::string answer, std::string method = "GET") {
    web->answers = {std::move(answer)};
    return run_task(sim, us,
                    net::http_fetch(us, kAt, {.method = std::move(method), .path = "/a b"},
                                    us.deadline_in(5s), {.body_bytes = 1000}));
  }
  Errc fault(std::string answer) {
    const Result<HttpResponse> response = fetch(std::move(answer));
    EXPECT_FALSE(response);
    return response ? Errc::kInternal : response.error().code;
  }

  inline static const Endpoint kAt = Endpoint::tcp("agent", 9470);
  World& sim;
  SimRuntime& us = sim.host("us");
  SimRuntime& host = sim.host("agent");
  std::unique_ptr<FakeWeb> web;

 private:
  Curfew ends_ = Curfew(host);
};

SIM_TEST_SEEDS(HttpFetch, ReadsAnswersOfEveryShape, 5) {
  WebHost node(sim);
  for (const std::size_t step : {0U, 1U, 7U}) {
    node.web->step = step;
    const auto chunked = node.fetch(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Type: text/x\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    ASSERT_TRUE(chunked) << chunked.error().describe();
    EXPECT_EQ(chunked->status, 201);
    EXPECT_EQ(chunked->content_type, "text/x");
    EXPECT_EQ(chunked->body, "abcde");
    const auto until_close = node.fetch("HTTP/1.0 404 Not Found\r\nX-A: b\r\n\r\nall of it");
    ASSERT_TRUE(until_close) << until_close.error().describe();
    EXPECT_EQ(until_close->status, 404);
    EXPECT_EQ(until_close->body, "all of it");
    EXPECT_EQ(until_close->headers,
              (std::vector<std::pair<std::string, std::string>>{{"x-a", "b"}}));
  }
  EXPECT_TRUE(node.web->requests().front().starts_with("GET /a%20b HTTP/1.1\r\n"));
  const auto head = node.fetch("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD");
  ASSERT_TRUE(head) << head.error().describe();
  EXPECT_EQ(head->body, "");
}

SIM_TEST_SEEDS(HttpFetch, WhatIsNoWholeAnswerIsAnError, 1) {
  WebHost node(sim);
  for (const char* cut : {"", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
                          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour"}) {
    EXPECT_EQ(node.fault(cut), Errc::kClosed) << cut;
  }
  EXPECT_EQ(node.fault("\x15\x03\x03\x00\x02\x02\x32"), Errc::kProtocol) << "TLS";
  EXPECT_EQ(node.fault("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
            Errc::kProtocol);
  EXPECT_EQ(node.fault("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x')), Errc::kLimit);
}

SIM_TEST_SEEDS(HttpFetch, ABodyOverTheLimitIsAnErrorAndNotCut, 1) {
  WebHost node(sim);
  const std::string whole(1000, 'x');
  EXPECT_EQ(node.fetch("HTTP/1.1 200 OK\r\n\r\n" + whole)->body, whole);
  EXPECT_EQ(node.fault("HTTP/1.1 200 OK\r\n\r\n" + whole + "x"), Errc::kLimit);
  EXPECT_EQ(node.fault("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + whole + "x"),
            Errc::kLimit);
  node.web->endless = true;
  EXPECT_EQ(node.fault("HTTP/1.1 200 OK\r\n\r\n" + whole), Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::sim
