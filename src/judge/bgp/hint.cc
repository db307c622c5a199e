#include "judge/bgp/hint.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "judge/bgp/facts.h"

namespace wardmote::judge::bgp {
namespace {

struct ErrorHint {
  std::string_view words;  ///< a part of the last error
  std::string_view hint;
};

/// The error texts of BIRD (proto/bgp/packets.c bgp_error_dsc) and of strerror(3).
constexpr auto kHints = std::to_array<ErrorHint>({
    {"Bad peer AS", "one end is configured with another AS number"},
    {"Connection refused", "nobody listens there: no BGP daemon, or another port"},
    {"No route to host", "the host is not reachable: down, or no route"},
    {"Network is unreachable", "there is no route to its network"},
    {"Hold timer expired", "it stopped answering: packets are lost, or the daemon hangs"},
    {"Administrative shutdown", "it was disabled at the other end"},
    {"Administrative reset", "it was reset at the other end"},
    {"Bad BGP identifier", "both ends have the same router id"},
    {"Connection collision", "both ends connected at once; it settles by itself"},
    {"Connection rejected", "the other end has no session configured for this address"},
    {"Connection reset by peer",
     "the other end has no session configured for this address, or "
     "restarts"},
    {"Unsupported capability", "the ends do not agree on address families"},
    {"No AFI/SAFI activated", "no address family is activated for it"},
});

}  // namespace

std::string_view hint(const Session& session) noexcept {
  if (session.established()) return {};
  if (session.admin_down) return "it is disabled here";
  const auto* const known = std::ranges::find_if(
      kHints, [&](const ErrorHint& one) { return session.last_error.contains(one.words); });
  if (known != kHints.end()) return known->hint;
  const bool connects =
      session.state == SessionState::kConnect || session.state == SessionState::kActive;
  if (connects && session.last_error.empty())
    return "no answer: the host is down, packets are dropped, or the passwords differ";
  if (session.state == SessionState::kPassive) return "waits for the other end to connect";
  return {};
}

}  // namespace wardmote::judge::bgp
