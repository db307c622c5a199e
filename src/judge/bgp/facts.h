#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace wardmote::judge::bgp {

/// The states of RFC 4271 8.2.2, and the states that daemons add.
enum class SessionState : std::uint8_t {
  kUnknown,
  kDown,     ///< the daemon does not want the session: disabled, or not started yet
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

/// One session, as the daemon at one end sees it.
struct Session {
  std::string name;     ///< the name of the protocol (BIRD), or the address again (FRR)
  std::string address;  ///< of the neighbour; may be empty where only a name was given
  std::uint16_t port = 179;
  std::optional<std::uint32_t> remote_as;
  std::optional<std::uint32_t> local_as;
  std::string local_address;  ///< of this end; empty when unknown
  SessionState state = SessionState::kUnknown;
  bool admin_down = false;  ///< disabled here, on purpose
  bool passive = false;     ///< never connects by itself
  bool restarting = false;  ///< graceful restart: its routes are kept although it may be gone
  std::string last_error;   ///< the daemon's text
  std::vector<std::string> families;   ///< `ipv4`, `ipv6`; empty when unknown
  std::optional<Routes> routes;        ///< over all families
  std::optional<Duration> in_state;    ///< time since the last change
  std::optional<Duration> hold_left;   ///< time until the session ends if the peer stays silent
  std::optional<std::uint64_t> drops;  ///< how often the session was lost, as the daemon counts
  /// how often the session was lost since the agent watches it
  std::uint64_t flaps = 0;

  [[nodiscard]] bool established() const noexcept { return state == SessionState::kEstablished; }
  /// The address if there is one, else the name.
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

/// What one BGP daemon reports about itself and its sessions.
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
