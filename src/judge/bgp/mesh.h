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
#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {

/// What one daemon says, or why it says nothing.
struct MeshView {
  std::string name;
  std::vector<std::string> addresses;  ///< by which others may know it, beside those it tells
  std::optional<BgpFacts> facts;
  Reason reason;  ///< when there are no facts
  /// Nobody knows how the daemon is: it has no facts, and is not told as one that is down.
  bool unsure = false;
  TimePoint begun = {};  ///< when the look at it began
};

struct MeshExpectation {
  bool full = true;  ///< every node has a session with every other
  /// How long both ends of a session may differ: one of them hears of it first.
  Duration settle = std::chrono::seconds(10);
  friend bool operator==(const MeshExpectation&, const MeshExpectation&) = default;
};

/// How a session stands in the eyes of one end.
enum class MeshCell : std::uint8_t {
  kSelf,
  kUp,
  kDown,
  kDisabled,
  kAbsent,  ///< this end has no such session
  kBlind,   ///< this end says nothing
};

std::string_view to_string(MeshCell cell) noexcept;

enum class MeshFault : std::uint8_t {
  kDaemonDown,         ///< a node that does not answer: the cause of all its sessions being down
  kMissingPeer,        ///< one end, or both, have no session configured
  kAsymmetric,         ///< one end says established, the other does not
  kWrongAs,            ///< the ends do not agree on an AS number
  kDisabled,           ///< down on purpose at one end
  kRefused,            ///< the other host answers, and nobody listens there
  kUnreachable,        ///< no route
  kPasswordSuspected,  ///< both daemons run and neither hears the other
  kNoAnswer,           ///< packets go out and nothing comes back
  kDown,               ///< down for what its last error says
};

std::string_view to_string(MeshFault fault) noexcept;

/// Something wrong between two nodes, or with one.
struct MeshProblem {
  MeshFault fault{};
  Severity severity = Severity::kWarning;
  std::string from;
  std::string to;  ///< empty when it is about one node
  std::string summary;
  std::vector<Evidence> evidence;
  std::size_t suppressed = 0;  ///< sessions that are down because of it, and not told one by one
  /// How long it has been so, by what the ends say; nothing when they do not say it.
  std::optional<Duration> stands;
  friend bool operator==(const MeshProblem&, const MeshProblem&) = default;
};

struct Mesh {
  std::vector<std::string> names;
  std::vector<std::vector<MeshCell>> cells;  ///< [who says it][of whom]
  std::vector<MeshProblem> problems;         ///< the most severe first
  Outcome outcome = Outcome::kUnknown;
};

/// By which a daemon lets others know it: its router id and the local addresses of its sessions.
std::vector<std::string> addresses_told(const BgpFacts& facts);

/// Compares what the daemons say of each other. A node is known to the others by its router id, by
/// the local addresses of its sessions, and by Calico's names. Pure.
Mesh assess_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation);

}  // namespace wardmote::judge::bgp
