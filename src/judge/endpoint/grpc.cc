#include "judge/endpoint/grpc.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "judge/judgement.h"
#include "judge/outcome.h"

namespace wardmote::judge {
namespace {

// https://grpc.io/docs/guides/status-codes/
constexpr std::array<std::string_view, 17> kStatusNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};
constexpr std::int64_t kOk = 0;
constexpr std::int64_t kNotFound = 5;
constexpr std::int64_t kPermissionDenied = 7;
constexpr std::int64_t kUnimplemented = 12;
constexpr std::int64_t kUnavailable = 14;
constexpr std::int64_t kUnauthenticated = 16;

std::string status_words(const GrpcFacts& facts) {
  const std::string_view name = grpc_status_name(facts.status);
  const std::string status =
      name.empty() ? fmt::format("status {}", facts.status) : std::string(name);
  return facts.message.empty() ? status : fmt::format("{}: {}", status, facts.message);
}

Judgement judge_status(const GrpcFacts& facts) {
  switch (facts.status) {
    case kNotFound:
      return {Outcome::kFail,
              {ReasonCode::kMissing,
               fmt::format("it knows no service '{}' ({})", facts.service, status_words(facts))}};
    case kUnimplemented:
      return {Outcome::kUnknown,
              {ReasonCode::kRejected,
               fmt::format("it does not have the health service ({})", status_words(facts))}};
    case kPermissionDenied:
    case kUnauthenticated: return {Outcome::kUnknown, {ReasonCode::kDenied, status_words(facts)}};
    case kUnavailable: return {Outcome::kFail, {ReasonCode::kState, status_words(facts)}};
    default: return {Outcome::kUnknown, {ReasonCode::kRejected, status_words(facts)}};
  }
}

}  // namespace

std::string_view to_string(Serving serving) noexcept {
  switch (serving) {
    case Serving::kUnknown: return "UNKNOWN";
    case Serving::kServing: return "SERVING";
    case Serving::kNotServing: return "NOT_SERVING";
    case Serving::kNoService: return "SERVICE_UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view grpc_status_name(std::int64_t status) noexcept {
  if (status < 0 || std::cmp_greater_equal(status, kStatusNames.size())) return {};
  return kStatusNames[static_cast<std::size_t>(status)];
}

Judgement judge_grpc(const GrpcFacts& facts) {
  if (facts.status != kOk || !facts.serving) return judge_status(facts);
  const std::string what =
      facts.service.empty() ? "the server" : fmt::format("service '{}'", facts.service);
  switch (*facts.serving) {
    case Serving::kServing: return {};
    case Serving::kNotServing:
      return {Outcome::kFail, {ReasonCode::kState, what + " is NOT_SERVING"}};
    case Serving::kNoService:
      return {Outcome::kFail, {ReasonCode::kMissing, what + " is SERVICE_UNKNOWN"}};
    case Serving::kUnknown: break;
  }
  return {Outcome::kUnknown, {ReasonCode::kState, what + " says UNKNOWN of itself"}};
}

}  // namespace wardmote::judge
