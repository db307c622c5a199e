#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "codec/http2_session.h"

namespace wardmote::codec {

/// The headers of a call (gRPC over HTTP/2, Requests). `left`: the time left until the deadline,
/// which is sent to the server.
HeaderFields grpc_headers(std::string_view scheme, std::string_view authority,
                          std::string_view path, Duration left);

/// A length-prefixed message.
std::string encode_grpc_message(std::string_view message);

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

/// kRejected when the first headers are not those of a gRPC server: a `:status` other than 200, or
/// a content-type other than application/grpc.
Result<void> check_grpc_headers(const HeaderFields& headers);

}  // namespace wardmote::codec
