#pragma once
// The room judge/ of the made-up domain.

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/thing.h"

namespace wardmote::judge::toy {

inline constexpr ThingKind kCounterKind("counter");

/// How many looks at a check have failed, one after the other.
struct Counter {
  std::string of;  ///< the check
  int most = 0;    ///< it fails above that
  int count = 0;
  bool known = false;  ///< the check was looked at
};

struct CounterAssessment {
  Outcome outcome = Outcome::kUnknown;
  std::vector<Finding> findings;
  std::vector<Observed> observed;
};

void count(Counter& counter, Outcome seen) noexcept;
/// Pure. `memory` knows since when it fails. The finding has a code of the product, as a toy does
/// not add to the catalogue.
CounterAssessment assess(const Counter& counter, ConditionTracker& memory, TimePoint now);

}  // namespace wardmote::judge::toy
