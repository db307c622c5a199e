#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// Whether a node may serve on what is reconciled.
struct Admission {
  enum class Verdict : std::uint8_t {
    kReady,
    kUnregistered,  ///< the store does not hold this node's current release
    kUnread,        ///< the status was not read since the registration
    kNoStatus,      ///< nothing was reconciled yet
    kUnreadable,    ///< nobody can read the status
    kNodeTooOld,    ///< the objects need a newer node
    kStatusTooOld,  ///< this node needs newer objects
  };
  Verdict verdict = Verdict::kUnregistered;
  std::string why{};      ///< for people
  bool set_back = false;  ///< by what was seen before the store was set back
  [[nodiscard]] bool ready() const noexcept { return verdict == Verdict::kReady; }
};

/// What a node saw of the status before the store was set back (StatusMemory).
struct Earlier {
  Stored stored;
  bool untouched = false;  ///< nobody has claimed since, so the objects are still as it says
  friend bool operator==(const Earlier&, const Earlier&) = default;
};

/// The rule of Metropolis's WaitReady, with its order repaired: register, then read. A leader reads
/// the nodes and then writes the status on condition that no node has changed; so either it sees
/// this node, or this node sees what it wrote.
/// `registered`: the revision at which the store held this node's current release; `read_at`: that
/// of the status. To be asked again with each change of the status and of the registration: a node
/// that was let in is told when it no longer fits. The state of the status makes no difference.
/// `earlier`: a node has to fit that too; while nobody has claimed since, that alone.
Admission admit(const Product& own, std::optional<Revision> registered, const Stored& stored,
                Revision read_at, const std::optional<Earlier>& earlier = std::nullopt);

}  // namespace wardmote::judge::version_gate
