#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {

/// How many of the sessions that count must be established.
enum class Require : std::uint8_t {
  kStartup,  ///< all of them while the node starts, one afterwards
  kAll,
  kAny,
};

/// What a condition is taken for.
enum class Treat : std::uint8_t { kFail, kWarn, kIgnore };

/// What a graceful restart that is under way is taken for.
enum class DuringRestart : std::uint8_t {
  kStartup,  ///< a failure while the node starts, a warning afterwards
  kFail,
  kIgnore,
};

/// Named rules; the defaults are the safe choice. Calico's are calico_policy().
struct Policy {
  Require require = Require::kStartup;
  Duration window = std::chrono::seconds(30);  ///< how long a node starts
  Treat no_peers = Treat::kFail;               ///< no session at all
  Treat partial = Treat::kWarn;                ///< enough are established, and not all
  Treat disabled = Treat::kWarn;               ///< a session that is administratively down
  bool count_passive = true;  ///< a session that waits to be connected to counts like any other
  DuringRestart restart = DuringRestart::kStartup;
  std::size_t min_peers = 1;        ///< that must be established whatever else is allowed
  std::uint64_t min_routes = 0;     ///< imported by each established session, else a warning
  std::vector<std::string> expect;  ///< names or addresses of sessions that must exist
  std::vector<std::string> only;    ///< beginnings of the names that count; empty: all
  std::string family;               ///< only sessions of `ipv4` or `ipv6`; empty: both
};

/// What `calico-node -bird-ready` decides by, as far as it depends on the table: no peers is ready,
/// what is disabled is not seen, a graceful restart matters inside the window only.
Policy calico_policy();

std::optional<Require> parse_require(std::string_view word) noexcept;
std::optional<Treat> parse_treat(std::string_view word) noexcept;
std::optional<DuringRestart> parse_during_restart(std::string_view word) noexcept;

struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Judges what one daemon says. `started` is how long ago the node started; a node of which that is
/// not known is no longer starting.
Verdict judge(const BgpFacts& facts, const Policy& policy, std::optional<Duration> started);

/// Whether a session is among those that `policy` speaks of.
bool counts(const Session& session, const Policy& policy) noexcept;

}  // namespace wardmote::judge::bgp
