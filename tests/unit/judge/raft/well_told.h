#pragma once

#include <span>

#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// Whatever is told of a cluster says what it is, since when, what to do, and shows the evidence
/// that the finding's page names.
void expect_well_told(const Assessment& told, std::span<const Opinion> opinions, TimePoint now);

}  // namespace wardmote::judge::raft
