#pragma once

#include "base/time.h"
#include "judge/plan/remedy.h"
#include "judge/raft/repair/repair_plan.h"
#include "judge/raft/repair_view.h"

namespace wardmote::judge::raft::repair {

/// What to do with the plan's current step, which there is (plan::Remedy::decide). A kick is
/// repeated within bounds, a rejoin never; a step that is not known is asked about.
plan::Decision decide(const RepairPlan& plan, const RepairView& view, TimePoint now);

}  // namespace wardmote::judge::raft::repair
