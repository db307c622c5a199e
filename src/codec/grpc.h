#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "codec/http2_session.h"

namespace wardmote::codec {

/// The headers of a call (gRPC over HTTP/2, Requests). `left`: the time left until the deadline,
/// which is sent to the server; none for a call that goes on until one side ends it.
HeaderFields grpc_headers(std::string_view scheme, std::string_view authority,
                          std::string_view path, std::optional<Duration> left);

/// A length-prefixed message.
std::string encode_grpc_message(std::string_view message);

/// Cuts the data of a call into its messages.
class GrpcFramer {
 public:
  explicit GrpcFramer(std::size_t longest) noexcept : longest_(longest) {}

  void feed(std::string_view data);
  /// The next whole message; nothing when more has to come. kLimit: it is longer than `longest`;
  /// kProtocol: it is compressed. After an error no message can be read any more.
  Result<std::optional<std::string>> next();
  /// Whether all that was fed was read.
  [[nodiscard]] bool empty() const noexcept { return read_ == bytes_.size(); }

 private:
  std::size_t longest_;
  std::string bytes_;
  std::size_t read_ = 0;
};

/// grpc.health.v1.HealthCheckRequest.
std::string encode_health_request(std::string_view service);

/// The status in grpc.health.v1.HealthCheckResponse, inside its length-prefixed message. kProtocol
/// when it is cut off, compressed or malformed.
Result<std::int64_t> parse_health_response(std::string_view data);

/// How a call ended, from its last headers.
struct GrpcStatus {
  std::int64_t code = 0;
  std::string message;
};

/// Nothing when the headers have no grpc-status. kProtocol when there are two, or when it is not a
/// plain decimal number: a reader that takes `-0` for 0 would call a server good whose state is
/// unknown.
Result<std::optional<GrpcStatus>> find_grpc_status(const HeaderFields& headers);

/// How a call that has ended did so, from its headers and trailers. The failure of the call itself;
/// kProtocol when there is no status, or more than one.
Result<GrpcStatus> read_grpc_status(const Http2Call& call);

/// kRejected when the first headers are not those of a gRPC server: a `:status` other than 200, or
/// a content-type other than application/grpc.
Result<void> check_grpc_headers(const HeaderFields& headers);

}  // namespace wardmote::codec
