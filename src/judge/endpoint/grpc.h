#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// grpc.health.v1.HealthCheckResponse.ServingStatus.
enum class Serving : std::uint8_t { kUnknown = 0, kServing = 1, kNotServing = 2, kNoService = 3 };

/// `UNKNOWN`, `SERVING`, `NOT_SERVING`, `SERVICE_UNKNOWN`.
std::string_view to_string(Serving serving) noexcept;

/// The status codes of gRPC, in order: `OK`, `CANCELLED`, `UNKNOWN`, …; empty for no such code.
std::string_view grpc_status_name(std::int64_t status) noexcept;

/// What a server answered to grpc.health.v1.Health/Check.
struct GrpcFacts {
  std::string service;               ///< the one asked for; empty: the whole server
  std::int64_t status = 0;           ///< grpc-status
  std::string message;               ///< grpc-message
  std::optional<Serving> serving{};  ///< with status 0 only
  Duration connect_time{};           ///< with TLS; of this probe
  Duration answer_time{};
  bool kept = false;  ///< the connection was open before
};

/// SERVING is ok, NOT_SERVING and SERVICE_UNKNOWN are fail; so is NOT_FOUND. A server without the
/// health service (UNIMPLEMENTED), or one that gives no clear answer, is unknown. Pure.
Judgement judge_grpc(const GrpcFacts& facts);

}  // namespace wardmote::judge
