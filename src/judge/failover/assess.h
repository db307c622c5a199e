#pragma once

#include <vector>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/thing.h"
#include "judge/verdict.h"

namespace wardmote::judge::failover {

inline constexpr ThingKind kPairKind("failover");

struct Assessment {
  Verdict verdict = Verdict::kUnknown;
  std::vector<Finding> findings;   ///< most severe first, then by code and subject
  std::vector<Observed> observed;  ///< in the same order
};

/// What is wrong with a pair, as this node's manager of it knows it. Nothing is wrong with a pair
/// that all its nodes only observe: somebody else decides there. `conditions` is what must be
/// remembered between two rounds. Pure.
Assessment assess(const PairReport& report, ConditionTracker& conditions, TimePoint now);

}  // namespace wardmote::judge::failover
