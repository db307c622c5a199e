#pragma once

#include <vector>

#include "judge/version_gate/report.h"
#include "serve/metrics/exposition.h"

namespace wardmote::serve {

/// Version gates, and what this node's passes over their sets came to.
void add_version_gate_metrics(Exposition& out,
                              const std::vector<judge::version_gate::Report>& gates);

}  // namespace wardmote::serve
