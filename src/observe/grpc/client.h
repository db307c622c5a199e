#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "codec/http2_session.h"
#include "judge/endpoint/grpc.h"
#include "judge/observation.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http2_connection.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::grpc {

/// Calls grpc.health.v1.Health/Check over one open HTTP/2 connection. After any failure, and after
/// a GOAWAY, the connection is dropped. If it was closed since the last probe, the same probe
/// connects again. Every `fresh_every`th probe opens a new connection. Life cycle: `runtime`
/// outlives it. Thread: the core loop; one probe at a time.
class Client {
 public:
  Client(runtime::Runtime& runtime, runtime::Endpoint at, std::string authority,
         std::string service, unsigned fresh_every = 10);

  /// What the server answered; an error of gRPC is an answer too. kTimeout, kRefused, kUnreachable,
  /// kMissing, kClosed, kProtocol, kLimit, kRejected (a web server without gRPC, a call that was
  /// reset), kExhausted; with TLS also its errors.
  runtime::Task<Result<judge::GrpcFacts>> look(runtime::Deadline deadline);

  /// What the last probe cost.
  [[nodiscard]] const judge::Cost& cost() const noexcept { return cost_; }

 private:
  runtime::Task<Result<judge::GrpcFacts>> ask_twice(runtime::Deadline deadline);
  runtime::Task<Result<judge::GrpcFacts>> ask(runtime::Deadline deadline);
  Result<codec::Http2Session::CallId> open_call(Duration left);
  void drop();
  void count_traffic();

  runtime::Runtime& runtime_;
  runtime::Endpoint at_;
  std::string authority_;
  std::string service_;
  unsigned fresh_every_;
  std::uint64_t looks_ = 0;
  bool looking_ = false;
  std::unique_ptr<runtime::Http2Connection> connection_;
  judge::Cost cost_;
};

}  // namespace wardmote::observe::grpc
