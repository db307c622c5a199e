#pragma once

#include "base/time.h"
#include "serve/metrics/exposition.h"
#include "serve/plans.h"

namespace wardmote::serve {

/// Plans, why some findings have none, and the journal.
void add_plan_metrics(Exposition& out, const PlanControl& control, TimePoint now);

}  // namespace wardmote::serve
