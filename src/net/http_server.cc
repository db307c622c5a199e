#include "net/http_server.h"

#include <array>
#include <cstddef>
#include <exception>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
using runtime::HttpAdmission;
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
/// After this time an incomplete request, or an answer that the client does not take, may be
/// dropped to make room for another.
constexpr Duration kDripping = 1s;
/// Whoever has just come needs so long to be heard; before that it makes room for nobody.
constexpr Duration kArriving = 100ms;
/// A body of this size and more is sent separately, in pieces, so that no other client waits for
/// the whole.
constexpr std::size_t kLong = 64 << 10;
/// A stream ends at this age; its client may ask again.
constexpr Duration kStreamAge = 24h;
/// The most bytes that a client may send while it receives a stream.
constexpr std::size_t kIgnoredBytes = 64 << 10;

HttpResponse plain(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

HttpResponse busy(std::string text) {
  HttpResponse response = plain(503, std::move(text));
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse refusal(const Error& error, bool body_too_long) {
  if (error.code == Errc::kTimeout) return plain(408, "the request took too long");
  if (error.code == Errc::kLimit)
    return body_too_long ? plain(413, "body too long") : plain(431, "header too long");
  if (error.code == Errc::kRejected) return plain(501, error.context);
  if (error.code == Errc::kExhausted) return busy(error.context);
  return plain(400, error.context);
}

/// Appends received bytes to `into`.
Task<Result<void>> receive(Stream* stream, std::string* into, Deadline deadline) {
  std::array<char, kChunk> chunk;
  const Result<std::size_t> got = co_await stream->read_some(chunk, deadline);
  if (!got) co_return std::unexpected(got.error());
  into->append(chunk.data(), *got);
  co_return Result<void>();
}

/// Waits until the client has closed its end or sent too much; then ends `stream`.
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

class StreamHttpServer::BodyShare {
 public:
  explicit BodyShare(StreamHttpServer& server) : server_(&server) {}
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  ~BodyShare() { server_->bodies_ -= bytes_; }

  /// False when the budget has no room for that many bytes.
  bool grow_to(std::size_t bytes) {
    if (bytes <= bytes_) return true;
    if (server_->bodies_ + (bytes - bytes_) > server_->limits_.bodies_bytes) return false;
    server_->bodies_ += bytes - bytes_;
    bytes_ = bytes;
    return true;
  }

 private:
  StreamHttpServer* server_;
  std::size_t bytes_ = 0;
};

StreamHttpServer::StreamHttpServer(runtime::Runtime& runtime)
    : runtime_(&runtime), acceptor_(runtime.executor()), serving_(runtime.executor()) {}

StreamHttpServer::~StreamHttpServer() = default;

Result<void> StreamHttpServer::start(Endpoint at, HttpLimits limits, HttpHandler handler,
                                     HttpAdmission admission) {
  Result<std::unique_ptr<runtime::Listener>> listener = runtime_->listen(std::move(at));
  if (!listener) return with_context(listener, "serve HTTP");
  limits_ = limits;
  handler_ = std::move(handler);
  admission_ = std::move(admission);
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
    const bool asked = connection.phase == Phase::kWaiting || connection.phase == Phase::kAnswering;
    if (!asked) connection.stream->close();
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
      // Probably because descriptors ran out: a stream can be resumed later, and a gate cannot
      // wait.
      evict(true);
      co_await runtime_->sleep_until(runtime_->now() + kAcceptPause);
      continue;
    }
    accept_fails_ = false;
    const bool full = connections_.size() >= limits_.connections && !evict(false);
    // If no connection can make room, the new one is closed.
    if (full && connections_.size() >= limits_.connections + limits_.reserve) continue;
    const ConnectionId id = next_id_++;
    Connection& made = connections_[id];
    made.id = id;
    made.stream = std::move(*stream);
    made.on_reserve = full;
    enter(made, Phase::kNew);
    serving_.spawn("http connection", serve(id));
  }
}

void StreamHttpServer::enter(Connection& connection, Phase phase) {
  queue(connection.phase).erase({connection.since, connection.id});
  connection.phase = phase;
  connection.since = runtime_->now();
  if (!connection.cut_off) queue(phase).emplace(connection.since, connection.id);
}

bool StreamHttpServer::evict(bool streams) {
  struct Candidates {
    Phase phase;
    Duration at_least;  ///< in this phase
  };
  constexpr Candidates kInTurn[] = {
      {Phase::kIdle, Duration::zero()},      {Phase::kNew, kArriving},
      {Phase::kReading, kDripping},          {Phase::kAnswering, kDripping},
      {Phase::kStreaming, Duration::zero()}, {Phase::kReading, kArriving}};
  const TimePoint now = runtime_->now();
  for (const Candidates& those : kInTurn) {
    const Queue& waiting = queue(those.phase);
    if (waiting.empty() || now - waiting.begin()->first < those.at_least) continue;
    if (those.phase == Phase::kStreaming && !streams) continue;
    cut_off(connections_.at(waiting.begin()->second));
    return true;
  }
  return false;
}

void StreamHttpServer::cut_off(Connection& connection) {
  connection.stream->close();
  connection.cut_off = true;
  connection.sends.reset();
  queue(connection.phase).erase({connection.since, connection.id});
}

std::size_t StreamHttpServer::bytes_being_sent() const {
  std::set<const std::string*> sent;
  for (const auto& [id, connection] : connections_) {
    if (connection.sends) sent.insert(connection.sends.get());
  }
  std::size_t bytes = 0;
  for (const std::string* const each : sent) bytes += each->size();
  return bytes;
}

void StreamHttpServer::make_room_for(const Connection& newest) {
  while (bytes_being_sent() > limits_.answers_bytes) {
    Connection* slowest = nullptr;
    for (auto& [id, connection] : connections_) {
      if (!connection.sends || connection.sends == newest.sends) continue;
      if (slowest == nullptr || connection.since < slowest->since) slowest = &connection;
    }
    if (slowest == nullptr) return;
    cut_off(*slowest);
  }
}

Task<void> StreamHttpServer::serve(ConnectionId id) {
  // Removes the connection from the map on every way out.
  struct Leave {
    StreamHttpServer* server;
    Connection* connection;
    ~Leave() {
      server->queue(connection->phase).erase({connection->since, connection->id});
      server->connections_.erase(connection->id);
    }
  } const leave{this, &connections_.at(id)};
  Connection* const connection = leave.connection;
  bool open = true;
  while (open && !stopping_ && !connection->last) {
    open = co_await serve_one(connection);
    connection->sends.reset();
    open = open && !connection->on_reserve;
  }
}

Task<bool> StreamHttpServer::serve_one(Connection* connection) {
  if (connection->received.empty()) {
    if (connection->phase != Phase::kNew) enter(*connection, Phase::kIdle);
    const Duration patience = connection->on_reserve ? kDripping : limits_.idle_timeout;
    const Deadline idle = runtime_->deadline_in(patience);
    const Result<void> begun =
        co_await receive(connection->stream.get(), &connection->received, idle);
    if (!begun) co_return false;
  }
  enter(*connection, Phase::kReading);
  HttpRequestReader reader(limits_);
  const Duration patience = connection->on_reserve ? kDripping : limits_.request_timeout;
  const Deadline deadline = runtime_->deadline_in(patience);
  std::optional<HttpResponse> unread;
  Result<HttpRequest> request = co_await read_request(connection, &reader, &unread, deadline);
  if (!request) {
    HttpResponse response =
        unread ? *std::move(unread) : refusal(request.error(), reader.body_too_long());
    if (request.error().code != Errc::kClosed) co_await refuse(connection, std::move(response));
    co_return false;
  }
  const bool head_only = request->method == "HEAD";
  if (head_only) request->method = "GET";
  request->peer = connection->stream->peer();
  request->on_reserve = connection->on_reserve;
  // Before the handler runs, because it may end all connections except those that are being
  // answered.
  enter(*connection, Phase::kWaiting);
  HttpResponse response = call_handler(*request);
  request = HttpRequest();
  if (response.hold) co_await wait_for(connection, &response);
  if (response.stream && queue(Phase::kStreaming).size() >= limits_.connections / 2) {
    response = busy("too many streams are sent already");
  }
  const bool keep_alive = reader.keep_alive() && !stopping_ && !connection->last &&
                          !response.stream && !connection->on_reserve;
  const Result<void> answered = co_await answer(connection, &response, keep_alive, head_only);
  if (answered && response.stream && !head_only) {
    co_await stream_out(connection, response.stream.get());
  }
  co_return answered&& keep_alive;
}

Task<void> StreamHttpServer::wait_for(Connection* connection, HttpResponse* response) {
  const std::shared_ptr<runtime::HttpHold> hold = response->hold;
  std::optional<HttpResponse> other = co_await hold->wait();
  enter(*connection, Phase::kWaiting);
  if (!other) co_return;
  response->status = other->status;
  response->content_type = std::move(other->content_type);
  response->body = std::move(other->body);
  response->shared = std::move(other->shared);
}

Task<Result<HttpRequest>> StreamHttpServer::read_request(Connection* connection,
                                                         HttpRequestReader* reader,
                                                         std::optional<HttpResponse>* unread,
                                                         Deadline deadline) {
  BodyShare share(*this);
  bool admitted = false;
  for (;;) {
    Result<void> fed = reader->feed_header(connection->received);
    if (fed && !admitted && reader->body_follows()) {
      fed = admit(*connection, *reader, unread);
      admitted = fed.has_value();
    }
    if (fed && admitted) fed = reader->feed(connection->received);
    if (!fed) co_return std::unexpected(fed.error());
    if (reader->done()) co_return reader->take();
    if (admitted && !share.grow_to(reader->body_bytes())) {
      co_return fail(Errc::kExhausted, "too many bodies are on their way; try again");
    }
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

Result<void> StreamHttpServer::admit(const Connection& connection, const HttpRequestReader& reader,
                                     std::optional<HttpResponse>* unread) const {
  const Result<HttpRequest> head = reader.head();
  if (!head) return std::unexpected(head.error());
  *unread = refuse_unread(connection, *head);
  if (*unread) return fail(Errc::kDenied, "not admitted");
  return {};
}

std::optional<HttpResponse> StreamHttpServer::refuse_unread(const Connection& connection,
                                                            HttpRequest head) const {
  if (!admission_) return std::nullopt;
  if (head.method == "HEAD") head.method = "GET";
  head.peer = connection.stream->peer();
  head.on_reserve = connection.on_reserve;
  return admission_(head);
}

HttpResponse StreamHttpServer::call_handler(const HttpRequest& request) const {
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "http_handler_threw", {{"path", request.path}, {"reason", error.what()}});
    return plain(500, "internal error");
  }
}

Task<Result<void>> StreamHttpServer::answer(Connection* connection, HttpResponse* response,
                                            bool keep_alive, bool head_only) {
  enter(*connection, Phase::kAnswering);
  if (response->body.size() >= kLong && !response->shared) {
    response->shared = std::make_shared<const std::string>(std::exchange(response->body, {}));
  }
  const std::string bytes =
      encode_response(*response, {keep_alive, head_only, runtime_->wall_now()});
  const Deadline deadline = runtime_->deadline_in(limits_.request_timeout);
  Result<void> written = co_await connection->stream->write(bytes, deadline);
  if (!response->shared || head_only) co_return written;
  const std::shared_ptr<const std::string> shared = std::move(response->shared);
  connection->sends = shared;
  make_room_for(*connection);
  for (std::size_t at = 0; written && at < shared->size(); at += kLong) {
    const std::string_view piece = std::string_view(*shared).substr(at, kLong);
    Result<void> sent = co_await connection->stream->write(piece, deadline);
    written = std::move(sent);
  }
  co_return written;
}

Task<void> StreamHttpServer::stream_out(Connection* connection, HttpStream* stream) {
  enter(*connection, Phase::kStreaming);
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
