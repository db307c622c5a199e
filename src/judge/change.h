#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/finding.h"

namespace wardmote::judge {

/// One thing that changed, as it is told to whoever follows: the log, /api/v1/events, history,
/// incidents.
struct Change {
  std::uint64_t sequence = 0;  ///< 1, 2, 3 … since the agent's start
  WallTime at;
  std::string kind;     ///< `finding_raised`; stable, docs/events.md lists them
  std::string scope;    ///< what kind of thing: `cluster`, `check`, `gate`, `agent`
  std::string subject;  ///< its name
  std::string data;     ///< the rest, a JSON object; texts from outside are capped and escaped
  /// Of finding_raised and finding_changed as it stands, of finding_cleared as it stood.
  std::optional<Finding> finding;
};

}  // namespace wardmote::judge
