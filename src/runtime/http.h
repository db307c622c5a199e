#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/endpoint.h"
#include "runtime/peer.h"
#include "runtime/task.h"

namespace wardmote::runtime {

struct HttpRequest {
  std::string method;  ///< upper case; a server turns HEAD into GET and omits the body itself
  std::string path;    ///< percent-decoded, without query
  std::string query;   ///< raw, without '?'
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;
  Peer peer;  ///< a server's: who asks
};

/// The body of an answer that has no end of its own. Thread: the core loop.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  /// What comes next, as soon as there is something; null ends the answer. The piece may be shared
  /// with other answers.
  virtual Task<std::shared_ptr<const std::string>> next() = 0;
  /// Nobody listens any more: a next() under way, or the next one, answers null.
  virtual void end() noexcept = 0;
};

struct HttpResponse;

/// What a server's answer has to wait for. Thread: the core loop.
class HttpHold {
 public:
  HttpHold() = default;
  HttpHold(const HttpHold&) = delete;
  HttpHold& operator=(const HttpHold&) = delete;
  virtual ~HttpHold() = default;

  /// Until the answer is true. What is to be answered in its stead, if it did not become so.
  virtual Task<std::optional<HttpResponse>> wait() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// Of a server: what follows instead of `body`. The connection ends with it. A piece that the
  /// client does not take within the request timeout ends it too.
  std::shared_ptr<HttpStream> stream;
  /// Of a server: what the answer waits for; null: nothing.
  std::shared_ptr<HttpHold> hold;
};

/// Answers from memory: it neither blocks nor waits. Its answer may (HttpResponse::hold).
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 1 << 20;
  std::size_t connections = 1024;
  Duration request_timeout =
      std::chrono::seconds(10);  ///< from the first byte of a request to its last
  Duration idle_timeout = std::chrono::seconds(75);
};

/// Serves HTTP/1.1 with keep-alive on one endpoint until stopped.
class HttpServer {
 public:
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  /// Starts to listen; kRefused when the address is taken, kDenied, kInvalid.
  virtual Result<void> start(Endpoint at, HttpLimits limits, HttpHandler handler) = 0;
  /// From the next connection on the same address is served as `at` says (Listener::change_to).
  /// What stands answers what it was asked, and ends: its peer proved himself to the former
  /// settings. On an error nothing has changed.
  virtual Result<void> change_to(const Endpoint& at) = 0;
  /// Stops accepting, lets answers under way finish, closes the rest.
  virtual Task<void> stop() = 0;
};

}  // namespace wardmote::runtime
