#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wardmote::judge {

/// What one look at a subject showed. `kUnknown` is never fail and never ok.
enum class Outcome : std::uint8_t { kOk, kWarn, kFail, kUnknown };

/// Why an outcome is what it is, as far as somebody acts differently on it.
enum class ReasonCode : std::uint8_t {
  kNone,
  kHung,            ///< it accepted the connection and did not answer by the deadline
  kRefused,         ///< nobody listens
  kMissing,         ///< no socket file, no process
  kDenied,          ///< we may not ask
  kUntrusted,       ///< its certificate does not prove that it is who we asked for
  kExpired,         ///< its certificate has run out, or is not valid yet
  kUnreachable,     ///< no connection by the deadline, or no route
  kClosed,          ///< it ended the conversation without an answer
  kProtocol,        ///< it did not speak its protocol
  kOverLimit,       ///< its answer passed a cap
  kRejected,        ///< it answered with an error of its own
  kUnknownCluster,  ///< the server runs and does not carry this database (any more)
  kNotClustered,    ///< the database is standalone or a relay
  kState,           ///< it answered, and what it says is not good
  kProberStarved,   ///< we were too late or too poor to judge
  kNotProbed,       ///< nobody has looked yet
};

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::string text;  ///< for people; may quote the peer, so escape it where it is shown
  friend bool operator==(const Reason&, const Reason&) = default;
};

std::string_view to_string(Outcome outcome) noexcept;
/// Stable lower-case names for JSON and labels: `hung`, `refused`, `unknown_cluster`, …
std::string_view to_string(ReasonCode code) noexcept;

}  // namespace wardmote::judge
