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
  Peer peer;  ///< of a server: who sent the request
  /// Of a server: all ordinary connections are in use, and this is one of the few reserved ones,
  /// where only urgent requests are answered.
  bool on_reserve = false;
};

/// The body of an answer that does not end by itself. Thread: the core loop.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;

  /// Returns the next piece as soon as there is one; null ends the answer. The piece may be shared
  /// with other answers.
  virtual Task<std::shared_ptr<const std::string>> next() = 0;
  /// The client is gone: a next() that waits, and every later one, returns null.
  virtual void end() noexcept = 0;
};

struct HttpResponse;

/// A condition that a server's answer has to wait for. Thread: the core loop.
class HttpHold {
 public:
  HttpHold() = default;
  HttpHold(const HttpHold&) = delete;
  HttpHold& operator=(const HttpHold&) = delete;
  virtual ~HttpHold() = default;

  /// Waits until the answer is true. Returns the answer to send instead, if it did not become true.
  virtual Task<std::optional<HttpResponse>> wait() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  /// Of a server: sent after `body`. Several answers may send the same bytes at the same time.
  std::shared_ptr<const std::string> shared{};
  std::vector<std::pair<std::string, std::string>> headers;
  /// Of a server: replaces `body`. The connection ends with the stream, and also when the client
  /// does not take a piece within the request timeout.
  std::shared_ptr<HttpStream> stream;
  /// Of a server: the condition that the answer waits for; null: none.
  std::shared_ptr<HttpHold> hold;
};

/// Answers from memory, without blocking or waiting. The answer itself may wait
/// (HttpResponse::hold).
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// Called when the header of a request has arrived and a body is to follow. Returns the answer with
/// which the request is refused without reading its body, or nothing to accept the body.
using HttpAdmission = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 1 << 20;
  /// Of a server: the bytes of all requests whose bodies have not arrived completely. A request
  /// that does not fit is answered with 503.
  std::size_t bodies_bytes = std::size_t{8} << 20;
  /// Of a server: the bytes of all answers that wait for their readers; a shared answer counts
  /// once. Beyond this, the reader that has been reading for longest is cut off.
  std::size_t answers_bytes = std::size_t{32} << 20;
  /// Streams take at most half of them.
  std::size_t connections = 1024;
  /// Of a server: further connections when all others are in use (HttpRequest::on_reserve).
  std::size_t reserve = 8;
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
  virtual Result<void> start(Endpoint at, HttpLimits limits, HttpHandler handler,
                             HttpAdmission admission) = 0;
  /// From the next connection on, the same address is served as `at` says (Listener::change_to).
  /// Open connections are answered what they asked, and then closed, because their peers were
  /// authenticated by the old settings. On an error nothing has changed.
  virtual Result<void> change_to(const Endpoint& at) = 0;
  /// Stops accepting, lets current answers finish, closes all other connections.
  virtual Task<void> stop() = 0;
};

}  // namespace wardmote::runtime
