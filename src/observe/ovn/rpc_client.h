#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json_rpc.h"
#include "judge/observation.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

struct RpcOptions {
  /// Every Nth request opens a new connection, so that a server which cannot accept any more is
  /// noticed; 1: every request.
  unsigned fresh_every = 10;
  /// A status of 1024 servers has 120 KiB. The parsed document of a message takes up to 32 times
  /// its size.
  codec::FrameLimits limits{.message_bytes = 128 << 10, .depth = 64};
};

/// One open JSON-RPC connection, one request at a time: prepare(), send(), receive(). It answers
/// the server's `echo`. After any failure the connection is dropped, and the next request opens a
/// new one. If the server has closed the connection since the last request, the same request is
/// sent once more over a new one. Life cycle: `runtime` outlives it; it outlives its tasks. Thread:
/// the core loop.
class RpcClient {
 public:
  RpcClient(runtime::Runtime& runtime, runtime::Endpoint to, RpcOptions options);

  /// Writes the next request; `params` is JSON text.
  void prepare(std::string_view method, std::string_view params);
  /// Connects if needed and sends the prepared request. kRefused, kMissing, kDenied, kUnreachable
  /// (also when a TCP connect gets no answer by the deadline, or too late to ask), kTimeout,
  /// kExhausted, kClosed.
  runtime::Task<Result<void>> send(runtime::Deadline deadline);
  /// The reply to the request, valid until rest() and the next prepare(). kTimeout, kUnreachable (a
  /// TCP connection of an earlier request fell silent), kClosed, kProtocol (garbage, or a reply to
  /// another request), kLimit (a message without end, or too many messages). An error of the server
  /// is in the reply.
  runtime::Task<Result<codec::RpcMessage>> receive(runtime::Deadline deadline);

  /// Call when the reply has been read and no request follows for a while: frees its memory.
  void rest() noexcept;

  /// What the request has cost so far.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  struct Connection {
    Connection(std::unique_ptr<runtime::Stream> opened, codec::FrameLimits limits)
        : stream(std::move(opened)), reader(limits) {}
    std::unique_ptr<runtime::Stream> stream;
    codec::JsonRpcReader reader;
  };

  runtime::Task<Result<void>> connect(runtime::Deadline deadline);
  runtime::Task<Result<void>> write(runtime::Deadline deadline);
  runtime::Task<Result<codec::RpcMessage>> read_reply(runtime::Deadline deadline);
  runtime::Task<Result<void>> read_more(runtime::Deadline deadline);
  /// If an old TCP connection falls silent, or a new one was made too late to ask anything, the
  /// network may be the cause: only a server that accepts a connection and gets a request can be
  /// hung (kTimeout).
  [[nodiscard]] Error judge_silence(Error error, bool asked) const;
  runtime::Task<Result<void>> answer_echo(const codec::RpcMessage* request,
                                          runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  runtime::Endpoint to_;
  RpcOptions options_;
  std::unique_ptr<Connection> connection_;
  std::string request_;
  std::uint64_t id_ = 0;
  judge::Cost cost_;
};

}  // namespace wardmote::observe::ovn
