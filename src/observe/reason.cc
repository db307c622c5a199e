#include "observe/reason.h"
#include "base/result.h"
#include "judge/outcome.h"
#include "runtime/endpoint.h"

namespace wardmote::observe {

using judge::Outcome;
using judge::ReasonCode;

namespace {

ReasonCode code_of(Errc code) noexcept {
  switch (code) {
    case Errc::kTimeout: return ReasonCode::kHung;
    case Errc::kRefused: return ReasonCode::kRefused;
    case Errc::kMissing: return ReasonCode::kMissing;
    case Errc::kUnreachable: return ReasonCode::kUnreachable;
    case Errc::kDenied: return ReasonCode::kDenied;
    case Errc::kUntrusted: return ReasonCode::kUntrusted;
    case Errc::kExpired: return ReasonCode::kExpired;
    case Errc::kClosed: return ReasonCode::kClosed;
    case Errc::kProtocol: return ReasonCode::kProtocol;
    case Errc::kLimit: return ReasonCode::kOverLimit;
    case Errc::kExhausted: return ReasonCode::kProberStarved;
    case Errc::kRejected:
    case Errc::kInvalid:
    case Errc::kInternal: return ReasonCode::kRejected;
  }
  return ReasonCode::kRejected;
}

}  // namespace

judge::Reason reason_of(const Error& error) {
  return {code_of(error.code), error.describe()};
}

Outcome outcome_of(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::kNone: return Outcome::kOk;
    case ReasonCode::kHung:
    case ReasonCode::kRefused:
    case ReasonCode::kMissing:
    case ReasonCode::kUnreachable:
    case ReasonCode::kUnknownCluster:
    case ReasonCode::kNotClustered:
    case ReasonCode::kExpired: return Outcome::kFail;
    case ReasonCode::kDenied:
    case ReasonCode::kUntrusted:
    case ReasonCode::kClosed:
    case ReasonCode::kProtocol:
    case ReasonCode::kOverLimit:
    case ReasonCode::kRejected:
    case ReasonCode::kState:
    case ReasonCode::kProberStarved:
    case ReasonCode::kNotProbed: return Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

Error connect_failure(const runtime::Endpoint& to, Error error) {
  if (error.code == Errc::kTimeout && to.kind == runtime::Endpoint::Kind::kTcp)
    error.code = Errc::kUnreachable;
  return error;
}

}  // namespace wardmote::observe
