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
#include "judge/thing.h"

namespace wardmote::judge::bgp {

inline constexpr ThingKind kMeshKind("mesh");

/// What one daemon reports, or why it does not answer.
struct MeshView {
  std::string name;
  /// addresses by which others may know it, beside those that it reports
  std::vector<std::string> addresses;
  std::optional<BgpFacts> facts;
  Reason reason;  ///< when there are no facts
  /// The state of the daemon is unknown: it has no facts, and does not count as down.
  bool unsure = false;
  TimePoint begun = {};  ///< when the probe began
};

struct MeshExpectation {
  bool full = true;  ///< every node has a session with every other
  /// How long both ends of a session may differ, because one of them notices a change first.
  Duration settle = std::chrono::seconds(10);
  friend bool operator==(const MeshExpectation&, const MeshExpectation&) = default;
};

/// The state of a session at one end.
enum class MeshCell : std::uint8_t {
  kSelf,
  kUp,
  kDown,
  kDisabled,
  kAbsent,  ///< this end has no such session
  kBlind,   ///< this end does not answer
};

std::string_view to_string(MeshCell cell) noexcept;

enum class MeshFault : std::uint8_t {
  kDaemonDown,         ///< a node that does not answer: the cause of all its sessions being down
  kMissingPeer,        ///< one end, or both, have no session configured
  kAsymmetric,         ///< one end says established, the other does not
  kWrongAs,            ///< the ends do not agree on an AS number
  kDisabled,           ///< down on purpose at one end
  kRefused,            ///< the other host answers, but no daemon listens there
  kUnreachable,        ///< no route
  kPasswordSuspected,  ///< both daemons run and neither hears the other
  kNoAnswer,           ///< packets are sent and no answer comes
  kDown,               ///< down for the reason in its last error
};

std::string_view to_string(MeshFault fault) noexcept;

/// A fault between two nodes, or of one node.
struct MeshProblem {
  MeshFault fault{};
  Severity severity = Severity::kWarning;
  std::string from;
  std::string to;  ///< empty when it is about one node
  std::string summary;
  std::vector<Evidence> evidence;
  /// sessions that are down because of it, and that are no problems of their own
  std::size_t suppressed = 0;
  /// How long the fault has lasted, by what the ends report; nothing when they do not say.
  std::optional<Duration> stands;
  friend bool operator==(const MeshProblem&, const MeshProblem&) = default;
};

struct Mesh {
  std::vector<std::string> names;
  std::vector<std::vector<MeshCell>> cells;  ///< [reporting node][other node]
  std::vector<MeshProblem> problems;         ///< the most severe first
  Outcome outcome = Outcome::kUnknown;
};

/// The addresses by which others may know a daemon: its router id and the local addresses of its
/// sessions.
std::vector<std::string> addresses_told(const BgpFacts& facts);

/// What a mesh is called whose gravest fault is `worst`; nothing: it has none. While somebody
/// cannot be asked it is not good. Pure.
Outcome outcome_of(const std::vector<MeshView>& views, std::optional<Severity> worst);

/// Compares what the daemons report about each other. A node is known to the others by its router
/// id, by the local addresses of its sessions, and by Calico's names. Pure.
Mesh assess_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation);

}  // namespace wardmote::judge::bgp
