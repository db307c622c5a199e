#include "store/etcd/status.h"

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "codec/grpc.h"

namespace wardmote::store::etcd {
namespace {

/// grpc.github.io, Status codes.
enum Code : std::uint8_t {
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

bool says(const codec::GrpcStatus& status, std::string_view words) noexcept {
  return status.message.find(words) != std::string_view::npos;
}

/// What etcd means by INVALID_ARGUMENT (etcd 3.4, etcdserver/api/v3rpc/rpctypes/error.go).
Errc invalid_argument(const codec::GrpcStatus& status) noexcept {
  if (says(status, "request is too large") || says(status, "too many operations"))
    return Errc::kLimit;
  // "user name is empty" is what it says to who has not said who he is.
  if (says(status, "auth") || says(status, "user name is empty")) return Errc::kDenied;
  return Errc::kInvalid;
}

Errc errc_of(const codec::GrpcStatus& status) noexcept {
  switch (status.code) {
    case kInvalidArgument: return invalid_argument(status);
    case kDeadlineExceeded: return Errc::kTimeout;
    case kNotFound:
    case kOutOfRange: return Errc::kMissing;
    case kAlreadyExists:
    case kFailedPrecondition: return Errc::kRejected;
    case kPermissionDenied:
    case kUnauthenticated: return Errc::kDenied;
    case kResourceExhausted: return Errc::kExhausted;
    case kUnimplemented:
    case kDataLoss: return Errc::kProtocol;
    case kUnavailable: return Errc::kClosed;
    default: return Errc::kInternal;
  }
}

}  // namespace

Error error_of(const codec::GrpcStatus& status) {
  return {errc_of(status), escape_control(status.message)};
}

bool is_stale_token(const codec::GrpcStatus& status) noexcept {
  return status.code == kUnauthenticated || says(status, "invalid auth token") ||
         says(status, "revision of auth store is old") ||
         // None was asked for, because authentication was off.
         says(status, "user name is empty");
}

}  // namespace wardmote::store::etcd
