#pragma once

#include "base/result.h"
#include "judge/outcome.h"
#include "runtime/endpoint.h"

namespace wardmote::observe {

/// Why a look gave no answer, for people and for those who act on it.
judge::Reason reason_of(const Error& error);

/// What a reason says of the subject when there is nothing else to go by. fail: evidence that it
/// does not serve (hung, refused, missing, unreachable, without what was asked for, with a
/// certificate that nobody may accept any more). unknown: there
/// is no answer to judge.
judge::Outcome outcome_of(judge::ReasonCode code) noexcept;

/// The failure of connecting to `to`. That a TCP connect gets no answer by the deadline means a
/// host out of reach (kUnreachable); on a unix socket it means a server that does not accept
/// (kTimeout: hung).
Error connect_failure(const runtime::Endpoint& to, Error error);

}  // namespace wardmote::observe
