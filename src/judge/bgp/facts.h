#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::judge::bgp {

/// The states of RFC 4271 8.2.2, and what daemons add to them.
enum class SessionState : std::uint8_t {
  kUnknown,
  kDown,     ///< the daemon does not want it: disabled, or not started yet
  kPassive,  ///< waits for the other side to connect
  kIdle,
  kConnect,
  kActive,
  kOpenSent,
  kOpenConfirm,
  kEstablished,
  kClose,
};

std::string_view to_string(SessionState state) noexcept;
/// As BIRD and FRR write it: `Established`, `OpenSent`, …; kUnknown for anything else.
SessionState parse_session_state(std::string_view word) noexcept;

struct Routes {
  std::uint64_t imported = 0;
  std::uint64_t exported = 0;
  friend bool operator==(const Routes&, const Routes&) = default;
};

/// One session, as the daemon that was asked sees it.
struct Session {
  std::string name;     ///< of the protocol (BIRD), or the address again (FRR)
  std::string address;  ///< of the neighbour; may be empty where only a name was given
  std::uint16_t port = 179;
  std::optional<std::uint32_t> remote_as;
  std::optional<std::uint32_t> local_as;
  std::string local_address;  ///< of this end; empty when it is not told
  SessionState state = SessionState::kUnknown;
  bool admin_down = false;  ///< disabled here, on purpose
  bool passive = false;     ///< never connects by itself
  bool restarting = false;  ///< graceful restart: its routes are kept although it may be gone
  std::string last_error;   ///< words of the daemon
  std::vector<std::string> families;   ///< `ipv4`, `ipv6`; empty when it is not told
  std::optional<Routes> routes;        ///< over all families
  std::optional<Duration> in_state;    ///< since it last changed
  std::optional<Duration> hold_left;   ///< until the session ends if the peer stays silent
  std::optional<std::uint64_t> drops;  ///< how often it was lost, as the daemon counts
  std::uint64_t flaps = 0;             ///< how often it was lost since we look

  [[nodiscard]] bool established() const noexcept { return state == SessionState::kEstablished; }
  /// The address where there is one, else the name.
  [[nodiscard]] const std::string& label() const noexcept {
    return address.empty() ? name : address;
  }
  friend bool operator==(const Session&, const Session&) = default;
};

/// After a restart, routes wait in the kernel until the peers have sent theirs again.
struct GracefulRestart {
  std::optional<std::uint64_t> waiting_for;
  std::optional<Duration> left;
  std::optional<Duration> total;
  friend bool operator==(const GracefulRestart&, const GracefulRestart&) = default;
};

/// What one BGP daemon says of itself and of its sessions.
struct BgpFacts {
  std::string version;
  std::string router_id;
  bool shutting_down = false;
  bool reconfiguring = false;
  std::optional<Duration> up_for;
  std::optional<GracefulRestart> restart;
  std::vector<Session> sessions;
  std::size_t lines_not_understood = 0;
  friend bool operator==(const BgpFacts&, const BgpFacts&) = default;
};

}  // namespace wardmote::judge::bgp
