#pragma once

#include "base/time.h"
#include "serve/metrics/exposition.h"
#include "serve/plans.h"

namespace wardmote::serve {

/// Plans, why some are not made, and the journal of what was done.
void add_plan_metrics(Exposition& out, const PlanDesk& desk, TimePoint now);

}  // namespace wardmote::serve
