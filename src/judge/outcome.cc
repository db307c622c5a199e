#include "judge/outcome.h"

#include <string_view>

namespace wardmote::judge {

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOk: return "ok";
    case Outcome::kWarn: return "warn";
    case Outcome::kFail: return "fail";
    case Outcome::kUnknown: return "unknown";
  }
  return "unknown";
}

std::string_view to_string(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::kNone: return "none";
    case ReasonCode::kHung: return "hung";
    case ReasonCode::kRefused: return "refused";
    case ReasonCode::kMissing: return "missing";
    case ReasonCode::kDenied: return "denied";
    case ReasonCode::kUntrusted: return "untrusted";
    case ReasonCode::kExpired: return "expired";
    case ReasonCode::kUnreachable: return "unreachable";
    case ReasonCode::kClosed: return "closed";
    case ReasonCode::kProtocol: return "protocol";
    case ReasonCode::kOverLimit: return "over_limit";
    case ReasonCode::kRejected: return "rejected";
    case ReasonCode::kUnknownCluster: return "unknown_cluster";
    case ReasonCode::kNotClustered: return "not_clustered";
    case ReasonCode::kState: return "state";
    case ReasonCode::kProberStarved: return "prober_starved";
    case ReasonCode::kNotProbed: return "not_probed";
  }
  return "none";
}

}  // namespace wardmote::judge
