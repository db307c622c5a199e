#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "net/http_message.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::net {

/// HTTP/1.1 over the streams of any Runtime, so the simulator can serve too. One deadline covers a
/// whole request, whatever the pace of its bytes; when all connections are taken, the one idle or
/// dripping for longest makes room. Life cycle: start() once, stop() before destruction. Thread:
/// the core loop.
class StreamHttpServer final : public runtime::HttpServer {
 public:
  explicit StreamHttpServer(runtime::Runtime& runtime);
  ~StreamHttpServer() override;

  Result<void> start(runtime::Endpoint at, runtime::HttpLimits limits,
                     runtime::HttpHandler handler) override;
  Result<void> change_to(const runtime::Endpoint& at) override;
  runtime::Task<void> stop() override;

 private:
  enum class Phase : std::uint8_t { kIdle, kReading, kAnswering, kStreaming };

  struct Connection {
    std::unique_ptr<runtime::Stream> stream;
    std::string received;  ///< not yet parsed
    Phase phase = Phase::kIdle;
    TimePoint since;    ///< in this phase
    bool last = false;  ///< ends with the answer under way
  };
  using ConnectionId = std::uint64_t;

  runtime::Task<void> accept_all();
  void end_connections();
  runtime::Task<void> serve(ConnectionId id);
  /// One request and its answer. False when the connection is to end.
  runtime::Task<bool> serve_one(Connection* connection);
  runtime::Task<Result<runtime::HttpRequest>> read_request(Connection* connection,
                                                           HttpRequestReader* reader,
                                                           runtime::Deadline deadline);
  /// Answers something that is no request, and reads on for a moment, so that the client sees the
  /// answer, not a reset.
  runtime::Task<void> refuse(Connection* connection, runtime::HttpResponse response);
  runtime::Task<Result<void>> answer(Connection* connection, const runtime::HttpResponse* response,
                                     bool keep_alive, bool head_only);
  /// Until it ends, the client leaves or does not take a piece in time.
  runtime::Task<void> stream_out(Connection* connection, runtime::HttpStream* stream);
  runtime::Task<void> send_pieces(Connection* connection, runtime::HttpStream* stream);
  runtime::HttpResponse call_handler(const runtime::HttpRequest& request) const;
  /// Closes the connection that makes the least use of its place: the one idle for longest, else
  /// the one that has dripped a request for longest. False when there is none.
  bool evict();

  runtime::Runtime* runtime_;
  runtime::HttpLimits limits_;
  runtime::HttpHandler handler_;
  std::unique_ptr<runtime::Listener> listener_;
  std::map<ConnectionId, Connection> connections_;
  ConnectionId next_id_ = 0;
  bool stopping_ = false;
  bool accept_fails_ = false;  ///< so that it is logged once, not at every attempt
  runtime::TaskGroup acceptor_;
  runtime::TaskGroup serving_;
};

}  // namespace wardmote::net
