#pragma once

#include <chrono>
#include <string_view>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/docket.h"

namespace wardmote::judge::raft {

/// One database of a deployment, as it was judged last. Refers to what the caller keeps.
struct Side {
  std::string_view cluster;  ///< its name in the configuration
  const Assessment& assessment;
  TimePoint judged;
};

/// Compares the two databases of a deployment (OVN's northbound and southbound), which usually live
/// on the same hosts: OVN_NB_SB_DIVERGENCE. Pure, like assess(); `docket` remembers since when.
Ruling compare_sides(const Side& own, const Side& other, Docket& docket,
                     std::chrono::milliseconds election_timer, TimePoint now);

/// Adds the findings to the assessment, in order, and lets a warning among them change its verdict.
void add_ruling(Assessment& assessment, Ruling ruling);

}  // namespace wardmote::judge::raft
