#pragma once

#include <span>
#include <string>

#include "serve/metrics/exposition.h"
#include "serve/view.h"

namespace wardmote::serve {

/// All metrics in the Prometheus text format 0.0.4.
std::string expose_metrics(const AgentView& agent);

/// The table of all metrics, for docs and tests.
std::span<const MetricInfo> metrics_table() noexcept;

}  // namespace wardmote::serve
