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

/// The outcome of a condition.
enum class Treat : std::uint8_t { kFail, kWarn, kIgnore };

/// The outcome of a graceful restart in progress.
enum class DuringRestart : std::uint8_t {
  kStartup,  ///< a failure while the node starts, a warning afterwards
  kFail,
  kIgnore,
};

/// The rules; the defaults are the safe choice. Calico's are calico_policy().
struct Policy {
  Require require = Require::kStartup;
  Duration window = std::chrono::seconds(30);  ///< how long a node starts
  Treat no_peers = Treat::kFail;               ///< outcome without any session
  Treat partial = Treat::kWarn;                ///< outcome when enough are established, but not all
  /// outcome of a session that is administratively down
  Treat disabled = Treat::kWarn;
  bool count_passive = true;  ///< sessions that wait for connections count like any other
  DuringRestart restart = DuringRestart::kStartup;
  std::size_t min_peers = 1;  ///< how many must be established in any case
  /// routes that each established session should import, else a warning
  std::uint64_t min_routes = 0;
  std::vector<std::string> expect;  ///< names or addresses of sessions that must exist
  std::vector<std::string> only;    ///< prefixes of the names that count; empty: all
  std::string family;               ///< only sessions of `ipv4` or `ipv6`; empty: both
};

/// The rules of `calico-node -bird-ready`, as far as they depend on the table: no peers is ready,
/// disabled peers do not count, and a graceful restart matters inside the window only.
Policy calico_policy();

std::optional<Require> parse_require(std::string_view word) noexcept;
std::optional<Treat> parse_treat(std::string_view word) noexcept;
std::optional<DuringRestart> parse_during_restart(std::string_view word) noexcept;

struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  Reason reason;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Judges the report of one daemon. `started` is how long ago the node started; a node whose start
/// is unknown is not starting any more.
Verdict judge(const BgpFacts& facts, const Policy& policy, std::optional<Duration> started);

/// Whether a session counts by `policy`.
bool counts(const Session& session, const Policy& policy) noexcept;

}  // namespace wardmote::judge::bgp
