#include "net/http_server.h"

#include <array>
#include <cstddef>
#include <exception>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http_message.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task_group.h"

namespace wardmote::net {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::HttpHandler;
using runtime::HttpLimits;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::HttpStream;
using runtime::Stream;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kChunk = 4096;
constexpr Duration kAcceptPause = 50ms;
constexpr Duration kLinger = 1s;
constexpr std::size_t kLingerBytes = 256 << 10;
/// A request that has not come whole after this time may make room for another.
constexpr Duration kDripping = 1s;
/// A stream ends at this age; its client may ask again.
constexpr Duration kStreamAge = 24h;
/// The most that a client may send while it is sent a stream.
constexpr std::size_t kIgnoredBytes = 64 << 10;

HttpResponse plain(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

HttpResponse refusal(const Error& error, bool body_too_long) {
  if (error.code == Errc::kTimeout) return plain(408, "the request took too long");
  if (error.code == Errc::kLimit)
    return body_too_long ? plain(413, "body too long") : plain(431, "header too long");
  return plain(400, error.context);
}

/// Appends what has come to `into`.
Task<Result<void>> receive(Stream* stream, std::string* into, Deadline deadline) {
  std::array<char, kChunk> chunk;
  const Result<std::size_t> got = co_await stream->read_some(chunk, deadline);
  if (!got) co_return std::unexpected(got.error());
  into->append(chunk.data(), *got);
  co_return Result<void>();
}

/// Until the client has closed its end or says too much; then ends `stream`.
Task<void> await_leaving(Stream* from, HttpStream* stream, Deadline deadline) {
  std::array<char, 256> ignored;
  for (std::size_t total = 0; total < kIgnoredBytes;) {
    const Result<std::size_t> got = co_await from->read_some(ignored, deadline);
    if (!got) break;
    total += *got;
  }
  stream->end();
}

}  // namespace

StreamHttpServer::StreamHttpServer(runtime::Runtime& runtime)
    : runtime_(&runtime), acceptor_(runtime.executor()), serving_(runtime.executor()) {}

StreamHttpServer::~StreamHttpServer() = default;

Result<void> StreamHttpServer::start(Endpoint at, HttpLimits limits, HttpHandler handler) {
  Result<std::unique_ptr<runtime::Listener>> listener = runtime_->listen(std::move(at));
  if (!listener) return with_context(listener, "serve HTTP");
  limits_ = limits;
  handler_ = std::move(handler);
  listener_ = std::move(*listener);
  acceptor_.spawn("http accept", accept_all());
  return {};
}

Task<void> StreamHttpServer::stop() {
  stopping_ = true;
  co_await acceptor_.stop();
  listener_.reset();
  end_connections();
  co_await serving_.join();
}

Result<void> StreamHttpServer::change_to(const Endpoint& at) {
  const Result<void> changed = listener_->change_to(at);
  if (!changed) return with_context(changed, "serve HTTP");
  end_connections();
  return changed;
}

void StreamHttpServer::end_connections() {
  for (auto& [id, connection] : connections_) {
    connection.last = true;
    if (connection.phase != Phase::kAnswering) connection.stream->close();
  }
}

Task<void> StreamHttpServer::accept_all() {
  for (;;) {
    Result<std::unique_ptr<Stream>> stream = co_await listener_->accept();
    if (!stream) {
      if (!accept_fails_) {
        log(LogLevel::kWarning, "http_accept_failed", {{"reason", stream.error().describe()}});
      }
      accept_fails_ = true;
      evict();
      co_await runtime_->sleep_until(runtime_->now() + kAcceptPause);
      continue;
    }
    accept_fails_ = false;
    // With nobody to make room, the newcomer is the one to go.
    if (connections_.size() >= limits_.connections && !evict()) continue;
    const ConnectionId id = next_id_++;
    connections_[id] = Connection{.stream = std::move(*stream), .since = runtime_->now()};
    serving_.spawn("http connection", serve(id));
  }
}

bool StreamHttpServer::evict() {
  Connection* worst = nullptr;
  const auto idle = [](const Connection& one) { return one.phase == Phase::kIdle; };
  for (auto& [id, connection] : connections_) {
    const bool dripping =
        connection.phase == Phase::kReading && runtime_->now() - connection.since >= kDripping;
    if (!idle(connection) && !dripping) continue;
    const bool first = worst == nullptr || (idle(connection) && !idle(*worst));
    const bool longer =
        worst != nullptr && idle(connection) == idle(*worst) && connection.since < worst->since;
    if (first || longer) worst = &connection;
  }
  if (worst == nullptr) return false;
  worst->stream->close();
  worst->phase = Phase::kAnswering;  // no longer a candidate
  return true;
}

Task<void> StreamHttpServer::serve(ConnectionId id) {
  // Leaves the map however the task ends.
  struct Leave {
    std::map<ConnectionId, Connection>* connections;
    ConnectionId id;
    ~Leave() { connections->erase(id); }
  } const leave{&connections_, id};
  Connection* const connection = &connections_.at(id);
  bool open = true;
  while (open && !stopping_ && !connection->last) open = co_await serve_one(connection);
}

Task<bool> StreamHttpServer::serve_one(Connection* connection) {
  if (connection->received.empty()) {
    connection->phase = Phase::kIdle;
    connection->since = runtime_->now();
    const Deadline idle = runtime_->deadline_in(limits_.idle_timeout);
    const Result<void> begun =
        co_await receive(connection->stream.get(), &connection->received, idle);
    if (!begun) co_return false;
  }
  connection->phase = Phase::kReading;
  connection->since = runtime_->now();
  HttpRequestReader reader(limits_);
  const Deadline deadline = runtime_->deadline_in(limits_.request_timeout);
  Result<HttpRequest> request = co_await read_request(connection, &reader, deadline);
  if (!request) {
    HttpResponse response = refusal(request.error(), reader.body_too_long());
    if (request.error().code != Errc::kClosed) co_await refuse(connection, std::move(response));
    co_return false;
  }
  const bool head_only = request->method == "HEAD";
  if (head_only) request->method = "GET";
  request->peer = connection->stream->peer();
  // Before the handler, which may end all connections but those that are answered.
  connection->phase = Phase::kAnswering;
  HttpResponse response = call_handler(*request);
  if (const std::shared_ptr<runtime::HttpHold> hold = response.hold) {
    std::optional<HttpResponse> other = co_await hold->wait();
    if (other) {
      response.status = other->status;
      response.content_type = std::move(other->content_type);
      response.body = std::move(other->body);
    }
  }
  const bool keep_alive =
      reader.keep_alive() && !stopping_ && !connection->last && !response.stream;
  const Result<void> answered = co_await answer(connection, &response, keep_alive, head_only);
  if (answered && response.stream && !head_only) {
    co_await stream_out(connection, response.stream.get());
  }
  co_return answered&& keep_alive;
}

Task<Result<HttpRequest>> StreamHttpServer::read_request(Connection* connection,
                                                         HttpRequestReader* reader,
                                                         Deadline deadline) {
  for (;;) {
    const Result<void> fed = reader->feed(connection->received);
    if (!fed) co_return std::unexpected(fed.error());
    if (reader->done()) co_return reader->take();
    if (reader->take_expectation()) {
      const Result<void> sent =
          co_await connection->stream->write("HTTP/1.1 100 Continue\r\n\r\n", deadline);
      if (!sent) co_return std::unexpected(sent.error());
    }
    const Result<void> more =
        co_await receive(connection->stream.get(), &connection->received, deadline);
    if (!more) co_return std::unexpected(more.error());
  }
}

HttpResponse StreamHttpServer::call_handler(const HttpRequest& request) const {
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "http_handler_threw", {{"path", request.path}, {"reason", error.what()}});
    return plain(500, "internal error");
  }
}

Task<Result<void>> StreamHttpServer::answer(Connection* connection, const HttpResponse* response,
                                            bool keep_alive, bool head_only) {
  connection->phase = Phase::kAnswering;
  const std::string bytes =
      encode_response(*response, {keep_alive, head_only, runtime_->wall_now()});
  const Deadline deadline = runtime_->deadline_in(limits_.request_timeout);
  Result<void> written = co_await connection->stream->write(bytes, deadline);
  co_return written;
}

Task<void> StreamHttpServer::stream_out(Connection* connection, HttpStream* stream) {
  connection->phase = Phase::kStreaming;
  connection->received = std::string();
  if (stopping_ || connection->last) co_return;
  std::vector<Task<void>> tasks;
  tasks.push_back(send_pieces(connection, stream));
  tasks.push_back(
      await_leaving(connection->stream.get(), stream, runtime_->deadline_in(kStreamAge)));
  co_await runtime::run_all(runtime_->executor(), std::move(tasks));
}

Task<void> StreamHttpServer::send_pieces(Connection* connection, HttpStream* stream) {
  for (;;) {
    const std::shared_ptr<const std::string> piece = co_await stream->next();
    if (piece == nullptr) break;
    const Deadline deadline = runtime_->deadline_in(limits_.request_timeout);
    const Result<void> written = co_await connection->stream->write(*piece, deadline);
    if (!written) break;
  }
  connection->stream->close();
}

Task<void> StreamHttpServer::refuse(Connection* connection, HttpResponse response) {
  const Result<void> answered = co_await answer(connection, &response, false, false);
  if (!answered) co_return;
  const Deadline deadline = runtime_->deadline_in(kLinger);
  for (std::size_t total = 0; total < kLingerBytes; total += connection->received.size()) {
    connection->received.clear();
    const Result<void> more =
        co_await receive(connection->stream.get(), &connection->received, deadline);
    if (!more) co_return;
  }
}

}  // namespace wardmote::net
