#include "net/curl/http_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/asio_runtime.h"
#include "runtime/task_group.h"

namespace wardmote::net {
namespace {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using namespace std::chrono_literals;

/// Accepts once, takes what comes until the body's end, says `answer`, and closes; an empty answer
/// is silence.
Task<void> serve_once(AsioRuntime* runtime, runtime::Listener* listener, std::string answer,
                      std::string* heard) {
  auto accepted = co_await listener->accept();
  if (!accepted) co_return;
  const Deadline deadline = runtime->deadline_in(5s);
  std::array<char, 4096> chunk{};
  while (!heard->contains("\r\n\r\nbody")) {
    const auto got = co_await (*accepted)->read_some(chunk, deadline);
    if (!got) co_return;
    heard->append(chunk.data(), *got);
  }
  if (answer.empty()) {
    co_await runtime->sleep_until(runtime->now() + 2s);
    co_return;
  }
  const auto written = co_await (*accepted)->write(answer, deadline);
  (void)written;
}

class CurlTest : public ::testing::Test {
 protected:
  /// What becomes of a call to a server that answers so.
  Result<HttpResponse> call_with(std::string answer, Duration timeout = 2s) {
    return run_task(runtime_, call_and_serve(this, std::move(answer), timeout));
  }
  static Task<Result<HttpResponse>> call_and_serve(CurlTest* test, std::string answer,
                                                   Duration timeout) {
    test->heard_.clear();
    auto listener = test->listen();
    runtime::TaskGroup group(test->runtime_.executor());
    group.spawn("server",
                serve_once(&test->runtime_, listener.get(), std::move(answer), &test->heard_));
    HttpCall call = test->call_;
    call.url = "http://127.0.0.1:" + std::to_string(test->port_) + "/hooks/PATHSECRET";
    call.body = "body";
    const Deadline deadline = test->runtime_.deadline_in(timeout);
    Result<HttpResponse> result = co_await test->client_.call(std::move(call), deadline);
    co_await group.stop();
    co_return result;
  }
  std::unique_ptr<runtime::Listener> listen() {
    for (port_ = 24100; port_ < 24200; ++port_) {
      auto listener = runtime_.listen(Endpoint::tcp("127.0.0.1", port_));
      if (listener) return *std::move(listener);
    }
    return nullptr;
  }

  AsioRuntime runtime_;
  CurlHttpClient client_{runtime_};
  HttpCall call_;
  std::string heard_;
  std::uint16_t port_ = 0;
};

/// A process that was stopped while it connected.
TEST_F(CurlTest, WhatIsTooLateIsNotSent) {
  const std::string good = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  call_.send_before = runtime_.now() + 1h;
  EXPECT_TRUE(call_with(good));
  call_.send_before = runtime_.now();
  const auto late = call_with(good);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kTimeout);
  EXPECT_TRUE(late.error().context.ends_with("not sent, because it was too late"))
      << late.error().context;
  EXPECT_EQ(heard_, "");
}

TEST_F(CurlTest, AnAnswerHasStatusHeadersAndBody) {
  call_.headers.emplace_back("X-Mine", "yes");
  const auto answer = call_with(
      "HTTP/1.1 429 Busy\r\nRetry-After: 30\r\nContent-Length: 4\r\nConnection: close\r\n\r\nslow");
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "slow");
  bool found = false;
  for (const auto& [name, value] : answer->headers) {
    found = found || (name == "retry-after" && value == "30");
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(heard_.starts_with("POST /hooks/PATHSECRET HTTP/1.1\r\n"));
  EXPECT_TRUE(heard_.contains("X-Mine: yes\r\n"));
  EXPECT_FALSE(heard_.contains("Expect:"));
}

TEST_F(CurlTest, SilenceEndsAtTheDeadline) {
  const auto answer = call_with("", 300ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kTimeout);
  EXPECT_FALSE(answer.error().describe().contains("PATHSECRET")) << answer.error().describe();
}

TEST_F(CurlTest, AnAnswerThatBreaksOffIsNone) {
  const auto answer = call_with("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nhalf");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kClosed);
}

/// kInvalid would mean that our own address is wrong, and the notice would be given up.
TEST_F(CurlTest, WhatIsNoHttpIsNoAnswer) {
  using namespace std::string_literals;
  for (const std::string& garbage :
       {"SSH-2.0-OpenSSH_9.2\r\n"s, "hello"s, "\x15\x03\x01\0\x02\x02\x28"s, "HT"s,
        "HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n"s, "HTTP/1.1 abc\r\n\r\n"s,
        "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"s,
        "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n"s,
        "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n"s,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"s}) {
    const auto answer = call_with(garbage);
    ASSERT_FALSE(answer) << garbage << " " << answer->status;
    EXPECT_NE(answer.error().code, Errc::kInvalid) << answer.error().describe();
  }
}

TEST_F(CurlTest, AHeadThatIsCutIsNoAnswer) {
  for (const char* cut : {"HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
                          "HTTP/1.1 200 OK\r\nX: y\r\n",
                          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n"}) {
    const auto answer = call_with(cut);
    ASSERT_FALSE(answer) << cut;
    EXPECT_EQ(answer.error().code, Errc::kClosed) << answer.error().describe();
  }
  EXPECT_TRUE(call_with("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_TRUE(call_with("HTTP/1.1 204 Gone well\nX: y\n\n"));
}

TEST_F(CurlTest, ARedirectIsAnAnswerAndNotFollowed) {
  const auto answer =
      call_with("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 302);
}

TEST_F(CurlTest, ALongAnswerIsALimit) {
  call_.answer_bytes = 100;
  const auto answer =
      call_with("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kLimit);
}

Task<Result<HttpResponse>> call_url(AsioRuntime* runtime, CurlHttpClient* client, std::string url) {
  HttpCall call;
  call.url = std::move(url);
  const Deadline deadline = runtime->deadline_in(2s);
  Result<HttpResponse> result = co_await client->call(std::move(call), deadline);
  co_return result;
}

TEST_F(CurlTest, WhereNobodyListensItIsRefused) {
  const auto answer = run_task(runtime_, call_url(&runtime_, &client_, "http://127.0.0.1:1/x"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::kRefused);
}

TEST_F(CurlTest, NoOtherProtocolsAndNoUsersInAddresses) {
  for (const char* url : {"file:///etc/passwd", "http://user:pass@127.0.0.1:1/", "nonsense://x"}) {
    const auto answer = run_task(runtime_, call_url(&runtime_, &client_, url));
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().code, Errc::kInvalid) << answer.error().describe();
    EXPECT_FALSE(answer.error().describe().contains("pass@"));
  }
}

Task<bool> cancel_at_once(AsioRuntime* runtime, CurlHttpClient* client) {
  auto listener = runtime->listen(Endpoint::tcp("127.0.0.1", 24201));
  runtime::TaskGroup group(runtime->executor());
  const auto call = [](AsioRuntime* in, CurlHttpClient* with) -> Task<void> {
    const auto answer = co_await call_url(in, with, "http://127.0.0.1:24201/");
    (void)answer;
  };
  group.spawn("call", call(runtime, client));
  co_await runtime->sleep_until(runtime->now() + 50ms);
  const TimePoint begun = runtime->now();
  co_await group.stop();
  co_return runtime->now() - begun < 500ms;
}

TEST_F(CurlTest, ACancelledCallEndsAtOnce) {
  EXPECT_TRUE(run_task(runtime_, cancel_at_once(&runtime_, &client_)));
}

}  // namespace
}  // namespace wardmote::net
