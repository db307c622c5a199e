#pragma once

#include <chrono>
#include <string_view>

#include "base/time.h"
#include "judge/condition/condition_tracker.h"
#include "judge/raft/assess.h"

namespace wardmote::judge::raft {

/// One database of a deployment, as judged last. Refers to data of the caller.
struct Side {
  std::string_view cluster;  ///< its name in the configuration
  const Assessment& assessment;
  TimePoint judged;
};

/// Compares the two databases of a deployment (OVN's northbound and southbound), which usually run
/// on the same hosts: OVN_NB_SB_DIVERGENCE. Pure, like assess(); `tracker` remembers since when.
ConditionReport compare_sides(const Side& own, const Side& other, ConditionTracker& tracker,
                              Milliseconds election_timer, TimePoint now);

/// Adds the findings to the assessment, in order, and lets a warning among them change its verdict.
void add_report(Assessment& assessment, ConditionReport report);

}  // namespace wardmote::judge::raft
