#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "codec/hpack.h"

namespace wardmote::codec {

/// The headers of a call, as a header block (gRPC over HTTP/2, Requests). `left`: what is left of
/// its deadline, which the server learns.
std::string encode_grpc_headers(std::string_view scheme, std::string_view authority,
                                std::string_view path, Duration left);

/// A length-prefixed message.
std::string encode_grpc_message(std::string_view message);

/// grpc.health.v1.HealthCheckRequest.
std::string encode_health_request(std::string_view service);

/// The status in grpc.health.v1.HealthCheckResponse, inside its length-prefixed message. kProtocol
/// when it is cut, compressed or none.
Result<std::int64_t> parse_health_response(std::string_view data);

/// How a call ended, from its last headers.
struct GrpcStatus {
  std::int64_t code = 0;
  std::string message;
};

/// Nothing when the headers hold no grpc-status. kProtocol when it is no number.
Result<std::optional<GrpcStatus>> find_grpc_status(const std::vector<HeaderField>& headers);

/// kRejected when the first headers are not those of a gRPC server: another `:status` than 200,
/// another content-type than application/grpc.
Result<void> check_grpc_headers(const std::vector<HeaderField>& headers);

}  // namespace wardmote::codec
