#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {

/// How people call it.
struct Names {
  std::string name;  ///< of the domain
  std::string uuid;
  std::string instance;  ///< as Nova's users call it; may be empty
  friend bool operator==(const Names&, const Names&) = default;
};

/// What stands of one guest at one moment.
struct Assessment {
  Verdict verdict = Verdict::kUnknown;
  /// Of the guest itself one at most, or what its hypervisor reported once; and those of its
  /// inside.
  std::vector<Finding> findings;
  std::vector<Observed> observed;
};

/// Pure. `memory` knows since when its conditions stand.
Assessment assess(const Machine& machine, const InsideWatch& inside, const Names& names,
                  ConditionTracker& memory, TimePoint now);

}  // namespace wardmote::judge::guest
