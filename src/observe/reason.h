#pragma once

#include "base/result.h"
#include "judge/outcome.h"
#include "runtime/endpoint.h"

namespace wardmote::observe {

/// Why a probe got no answer, as a code to act on and as a text for people.
judge::Reason reason_of(const Error& error);

/// What a reason says about the subject if nothing else is known. fail: evidence that the subject
/// does not serve (hung, refused, missing, unreachable, without what was asked for, with an expired
/// certificate). unknown: there is no answer that can be judged.
judge::Outcome outcome_of(judge::ReasonCode code) noexcept;

/// The reason of a failed connect to `to`. A TCP connect without an answer by the deadline means an
/// unreachable host (kUnreachable); on a unix socket it means a server that does not accept
/// (kTimeout: hung).
Error connect_failure(const runtime::Endpoint& to, Error error);

}  // namespace wardmote::observe
