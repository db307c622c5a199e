#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wardmote::judge {

/// What one probe of a subject showed. `kUnknown` is never fail and never ok.
enum class Outcome : std::uint8_t { kOk, kWarn, kFail, kUnknown };

/// Why an outcome is what it is. A code exists only where somebody acts differently on it.
enum class ReasonCode : std::uint8_t {
  kNone,
  kHung,            ///< it accepted the connection and did not answer by the deadline
  kRefused,         ///< no process listens
  kMissing,         ///< no socket file, no process
  kDenied,          ///< we may not ask
  kUntrusted,       ///< its certificate does not prove its identity
  kExpired,         ///< its certificate has expired, or is not valid yet
  kUnreachable,     ///< no connection by the deadline, or no route
  kClosed,          ///< it closed the connection without an answer
  kProtocol,        ///< it did not follow its protocol
  kOverLimit,       ///< its answer was over a limit
  kRejected,        ///< it answered with an error
  kUnknownCluster,  ///< the server runs and does not have this database (any more)
  kNotClustered,    ///< the database is standalone or a relay
  kState,           ///< it answered, and its state is not good
  kProberStarved,   ///< the agent had too little time or resources to judge
  kNotProbed,       ///< there was no probe yet
  kNoResolver,      ///< its name was not looked up: our resolver did not answer
};

/// What a probe with this reason says about the subject if nothing else is known.
enum class Meaning : std::uint8_t {
  kGood,
  kBad,         ///< evidence that it does not serve
  kUnreadable,  ///< the answer cannot be read: unknown, and `fall` in a row count as failures
  kOurs,        ///< unknown because of the agent: says nothing about the subject, and only ages
};

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::string text;  ///< for people; may quote the peer, so escape it where it is shown
  friend bool operator==(const Reason&, const Reason&) = default;
};

std::string_view to_string(Outcome outcome) noexcept;
/// The row of the one table of reasons (docs/design.md).
Meaning meaning_of(ReasonCode code) noexcept;
/// Whether a probe counts as a failure although its outcome is unknown: an answer came, but cut
/// off, malformed or too long. Unlike a probe that the agent could not make.
bool unreadable(Outcome outcome, ReasonCode code) noexcept;
/// Stable lower-case names for JSON and labels: `hung`, `refused`, `unknown_cluster`, …
std::string_view to_string(ReasonCode code) noexcept;
/// kNone for an unknown name.
ReasonCode parse_reason(std::string_view name) noexcept;

}  // namespace wardmote::judge
