#include "base/result.h"

#include <string>
#include <string_view>

namespace wardmote {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::kTimeout: return "timed out";
    case Errc::kRefused: return "refused";
    case Errc::kMissing: return "missing";
    case Errc::kUnreachable: return "unreachable";
    case Errc::kDenied: return "denied";
    case Errc::kUntrusted: return "not trusted";
    case Errc::kExpired: return "expired";
    case Errc::kClosed: return "closed by peer";
    case Errc::kProtocol: return "protocol error";
    case Errc::kLimit: return "over a limit";
    case Errc::kInvalid: return "invalid";
    case Errc::kExhausted: return "out of resources";
    case Errc::kRejected: return "rejected";
    case Errc::kInternal: return "failed";
    case Errc::kNoResolver: return "no answer from the resolver";
  }
  return "failed";
}

std::string Error::describe() const {
  if (context.empty()) return std::string(to_string(code));
  return fmt::format("{}: {}", context, to_string(code));
}

}  // namespace wardmote
