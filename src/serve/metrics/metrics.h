#pragma once

#include <span>
#include <string>

#include "serve/incidents.h"
#include "serve/metrics/exposition.h"
#include "serve/notify_desk.h"
#include "serve/plans.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Where incidents, notices and plans are kept.
struct Desks {
  const IncidentDesk& incidents;
  const NotifyDesk& notify;
  const PlanDesk& plans;
};

/// All metrics in the Prometheus text format 0.0.4; without `desks` none of theirs.
std::string expose_metrics(const AgentView& agent, const Desks* desks = nullptr);

/// The table of all metrics, for docs and tests.
std::span<const MetricInfo> metrics_table() noexcept;

}  // namespace wardmote::serve
