#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace wardmote::judge {

/// One row of the journal: who did what to what, and why.
struct JournalEntry {
  std::int64_t sequence = 0;  ///< 1, 2, 3 … without gaps; given by the journal
  WallTime at;
  std::string kind;  ///< `proposed`, `approved`, `intent`, `result`, …: docs/plans.md
  std::int64_t plan = 0;
  std::string step;           ///< of the plan; may be empty
  std::string cluster;        ///< what is changed; may be empty
  std::string subject;        ///< the member or server; may be empty
  std::string actor;          ///< who: a policy, the agent, or an operator as the API knows him
  std::int64_t incident = 0;  ///< 0: none
  std::int64_t token = 0;     ///< the fencing token of the agent that wrote it
  std::string detail;
  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

}  // namespace wardmote::judge
