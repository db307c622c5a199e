#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/grpc.h"
#include "codec/hpack.h"
#include "codec/http2.h"
#include "judge/endpoint/grpc.h"
#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::grpc {

/// Asks grpc.health.v1.Health/Check over one kept-open HTTP/2 connection. After any failure, and
/// when the server says that it goes away, the connection is dropped; when it was closed since the
/// last look, the same look starts anew. Every `fresh_every`th look connects anew. Life cycle:
/// `runtime` outlives it. Thread: the core loop; one look at a time.
class Client {
 public:
  Client(runtime::Runtime& runtime, runtime::Endpoint at, std::string authority,
         std::string service, unsigned fresh_every = 10);

  /// What the server answered, be it an error of gRPC's. kTimeout, kRefused, kUnreachable,
  /// kMissing, kClosed, kProtocol, kLimit, kRejected (a web server without gRPC, a call that was
  /// reset), kExhausted; with TLS also its errors.
  runtime::Task<Result<judge::GrpcFacts>> look(runtime::Deadline deadline);

  /// What the last look cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  /// One connection.
  struct Connection {
    std::unique_ptr<runtime::Stream> stream;
    codec::Http2Reader reader;
    codec::HpackDecoder headers;
    std::uint32_t last_stream = 0;
    bool goes_away = false;
  };
  /// What has come of one call.
  struct Call {
    bool has_headers = false;
    bool ended = false;
    std::string data;
    std::optional<codec::GrpcStatus> status{};
  };

  runtime::Task<Result<judge::GrpcFacts>> ask(runtime::Deadline deadline);
  runtime::Task<Result<void>> write(std::string bytes, runtime::Deadline deadline);
  runtime::Task<Result<codec::Http2Frame>> next_frame(runtime::Deadline deadline);
  runtime::Task<Result<void>> take(codec::Http2Frame frame, Call* call, runtime::Deadline deadline);
  runtime::Task<Result<void>> take_headers(codec::Http2Frame frame, Call* call,
                                           runtime::Deadline deadline);
  Result<void> take_data(const codec::Http2Frame& frame, Call& call) const;
  Result<void> take_go_away(const codec::Http2Frame& frame);

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  std::string authority_;
  std::string service_;
  unsigned fresh_every_;
  std::uint64_t looks_ = 0;
  std::unique_ptr<Connection> connection_;
  judge::Cost cost_;
};

}  // namespace wardmote::observe::grpc
