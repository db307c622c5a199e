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
    case Errc::kNoResolver: return ReasonCode::kNoResolver;
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
  switch (meaning_of(code)) {
    case judge::Meaning::kGood: return Outcome::kOk;
    case judge::Meaning::kBad: return Outcome::kFail;
    case judge::Meaning::kUnreadable:
    case judge::Meaning::kOurs: return Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

Error connect_failure(const runtime::Endpoint& to, Error error) {
  if (error.code == Errc::kTimeout && to.kind == runtime::Endpoint::Kind::kTcp)
    error.code = Errc::kUnreachable;
  return error;
}

}  // namespace wardmote::observe
