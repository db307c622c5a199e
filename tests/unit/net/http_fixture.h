#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "net/http_fetch.h"
#include "net/http_server.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {

using namespace std::chrono_literals;
using runtime::Endpoint;
using runtime::HttpLimits;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Runtime;
using runtime::Stream;
using runtime::Task;

/// Three pieces and an end.
class Countdown final : public runtime::HttpStream {
 public:
  Task<std::shared_ptr<const std::string>> next() override {
    if (left_ == 0) co_return nullptr;
    co_return std::make_shared<const std::string>(std::to_string(left_--) + "\n");
  }
  void end() noexcept override { left_ = 0; }

 private:
  int left_ = 3;
};

/// Holds an answer for a moment, and then has another in its stead.
class Moment final : public runtime::HttpHold {
 public:
  explicit Moment(Runtime& runtime) : runtime_(runtime) {}
  Task<std::optional<HttpResponse>> wait() override {
    co_await runtime_.sleep_until(runtime_.now() + 50ms);
    waited = true;
    if (good) co_return std::nullopt;
    co_return HttpResponse{.status = 503, .body = "not written"};
  }
  bool good = true;
  bool waited = false;

 private:
  Runtime& runtime_;
};

inline HttpResponse echo(const HttpRequest& request) {
  if (request.path == "/countdown") {
    HttpResponse response;
    response.stream = std::make_shared<Countdown>();
    return response;
  }
  if (request.path == "/who") {
    const auto& process = request.peer.process;
    return {.body = process ? fmt::format("{} {} {}", process->user, process->group, process->id)
                            : request.peer.address};
  }
  if (request.path == "/reserve") {
    return request.on_reserve ? HttpResponse{.body = "on the reserve"}
                              : HttpResponse{.status = 404};
  }
  if (request.path == "/throw") throw std::runtime_error("broken handler");
  std::string body =
      request.method + " " + request.path + "?" + request.query + "\n" + request.body;
  return {.status = request.path == "/missing" ? 404 : 200, .body = std::move(body)};
}

class Http : public NetTest {
 protected:
  void serve(HttpLimits limits = {}) { serve(unix_at("api.sock"), limits); }
  void serve(Endpoint at, HttpLimits limits = {}, runtime::HttpAdmission admission = {}) {
    at_ = at;
    const Result<void> started = server_.start(at, limits, echo, std::move(admission));
    ASSERT_TRUE(started) << started.error().describe();
  }
  ~Http() override { runtime_.run(server_.stop()); }

  Result<HttpResponse> fetch(HttpRequest request) {
    return run_task(runtime_, http_fetch(runtime_, at_, std::move(request), in(5s)));
  }

  std::unique_ptr<Stream> open() {
    return run_task(runtime_, runtime_.connect(at_, in(5s))).value();
  }
  void send(Stream& stream, std::string_view bytes) {
    ASSERT_TRUE(run_task(runtime_, stream.write(bytes, in(5s))));
  }
  /// Until the server closes.
  std::string read_all(Stream& stream) {
    constexpr auto read = [](Stream* from, runtime::Deadline deadline) -> Task<std::string> {
      std::string text;
      std::array<char, 4096> chunk;
      for (;;) {
        const Result<std::size_t> got = co_await from->read_some(chunk, deadline);
        if (!got)
          co_return text +
              (got.error().code == Errc::kClosed ? "" : "<" + got.error().describe() + ">");
        text.append(chunk.data(), *got);
      }
    };
    return run_task(runtime_, read(&stream, in(5s)));
  }
  std::string exchange(std::string_view bytes) {
    const auto stream = open();
    send(*stream, bytes);
    return read_all(*stream);
  }
  /// The status line, without waiting for the end: the server lingers where it refuses.
  std::string first_line(std::string_view bytes) {
    const auto stream = open();
    send(*stream, bytes);
    constexpr auto read = [](Stream* from, runtime::Deadline deadline) -> Task<std::string> {
      std::string text;
      std::array<char, 512> chunk;
      while (!text.contains('\r')) {
        const Result<std::size_t> got = co_await from->read_some(chunk, deadline);
        if (!got) break;
        text.append(chunk.data(), *got);
      }
      co_return text;
    };
    return status_line(run_task(runtime_, read(stream.get(), in(5s))));
  }
  static std::string status_line(std::string_view response) {
    return std::string(response.substr(0, response.find('\r')));
  }

  Endpoint at_;
  StreamHttpServer server_{runtime_};
};

}  // namespace wardmote::net
