#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "net/http_message.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::net {

/// HTTP/1.1 over the streams of any Runtime, so the simulator can serve too. One deadline covers a
/// whole request, however slowly its bytes arrive. When all connections are in use, the one idle
/// for longest makes room, else one that sends its request slowly or does not take its answer. Life
/// cycle: start() once, stop() before destruction. Thread: the core loop.
class StreamHttpServer final : public runtime::HttpServer {
 public:
  explicit StreamHttpServer(runtime::Runtime& runtime);
  ~StreamHttpServer() override;

  Result<void> start(runtime::Endpoint at, runtime::HttpLimits limits, runtime::HttpHandler handler,
                     runtime::HttpAdmission admission = {}) override;
  Result<void> change_to(const runtime::Endpoint& at) override;
  runtime::Task<void> stop() override;

 private:
  enum class Phase : std::uint8_t { kNew, kIdle, kReading, kWaiting, kAnswering, kStreaming };
  using ConnectionId = std::uint64_t;

  struct Connection {
    ConnectionId id = 0;
    std::unique_ptr<runtime::Stream> stream;
    std::string received;                        ///< not yet parsed
    Phase phase = Phase::kNew;                   ///< nothing has come of it yet
    TimePoint since;                             ///< in this phase
    bool last = false;                           ///< ends after the present answer
    bool on_reserve = false;                     ///< beyond HttpLimits::connections
    bool cut_off = false;                        ///< its stream is closed, to make room
    std::shared_ptr<const std::string> sends{};  ///< the long part of the present answer
  };
  /// The bytes of one request in the budget HttpLimits::bodies_bytes.
  class BodyShare;

  runtime::Task<void> accept_all();
  void end_connections();
  runtime::Task<void> serve(ConnectionId id);
  /// Handles one request. False when the connection is to end.
  runtime::Task<bool> serve_one(Connection* connection);
  /// Sets `unread` when the request is refused before its body is read.
  runtime::Task<Result<runtime::HttpRequest>> read_request(
      Connection* connection, HttpRequestReader* reader,
      std::optional<runtime::HttpResponse>* unread, runtime::Deadline deadline);
  /// An error when the request is refused before its body is read; contains the answer.
  Result<void> admit(const Connection& connection, const HttpRequestReader& reader,
                     std::optional<runtime::HttpResponse>* unread) const;
  /// The answer that refuses the request before its body is read, or nothing.
  std::optional<runtime::HttpResponse> refuse_unread(const Connection& connection,
                                                     runtime::HttpRequest head) const;
  /// If the handler's answer has to wait for a condition, replaces the answer by the final one.
  runtime::Task<void> wait_for(Connection* connection, runtime::HttpResponse* response);
  /// Answers bytes that are not a request, and reads on for a moment, so that the client sees the
  /// answer instead of a reset.
  runtime::Task<void> refuse(Connection* connection, runtime::HttpResponse response);
  runtime::Task<Result<void>> answer(Connection* connection, runtime::HttpResponse* response,
                                     bool keep_alive, bool head_only);
  /// Sends the stream until it ends, the client disconnects, or the client does not take a piece in
  /// time.
  runtime::Task<void> stream_out(Connection* connection, runtime::HttpStream* stream);
  runtime::Task<void> send_pieces(Connection* connection, runtime::HttpStream* stream);
  runtime::HttpResponse call_handler(const runtime::HttpRequest& request) const;
  /// Closes the connection that uses its place least: the one idle for longest, else the one that
  /// has been sending a request for more than a second, else the one that has been taking its
  /// answer for so long, with `streams` the oldest stream, else the one that has been sending a
  /// request for longest. False when there is none but those who have just come.
  bool evict(bool streams);
  void enter(Connection& connection, Phase phase);
  void cut_off(Connection& connection);
  /// Those in a phase that are not cut off, the one that is in it for longest first.
  using Queue = std::set<std::pair<TimePoint, ConnectionId>>;
  Queue& queue(Phase phase) noexcept { return queues_[static_cast<std::size_t>(phase)]; }
  /// Cuts off readers of other answers until all pending answers fit into
  /// HttpLimits::answers_bytes.
  void make_room_for(const Connection& newest);
  [[nodiscard]] std::size_t bytes_being_sent() const;

  runtime::Runtime* runtime_;
  runtime::HttpLimits limits_;
  runtime::HttpHandler handler_;
  runtime::HttpAdmission admission_;
  std::size_t bodies_ = 0;  ///< bytes of bodies that have not arrived completely
  std::unique_ptr<runtime::Listener> listener_;
  std::map<ConnectionId, Connection> connections_;
  std::array<Queue, 6> queues_;  ///< by phase
  ConnectionId next_id_ = 0;
  bool stopping_ = false;
  bool accept_fails_ = false;  ///< so that it is logged once, not at every attempt
  runtime::TaskGroup acceptor_;
  runtime::TaskGroup serving_;
};

}  // namespace wardmote::net
