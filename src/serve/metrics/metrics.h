#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "serve/incidents.h"
#include "serve/metrics/exposition.h"
#include "serve/notify_control.h"
#include "serve/plans.h"
#include "serve/renderer.h"
#include "serve/version_gates.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Access to incidents, notices and plans.
struct Controls {
  const IncidentControl& incidents;
  const NotifyControl& notify;
  const PlanControl& plans;
  const VersionGatesView* version_gates = nullptr;  ///< null: there are none
};

/// All metrics, rendered in pieces as they were at the beginning. The controls outlive it.
std::unique_ptr<Rendering> render_metrics(const AgentView& agent, const Controls& controls);

/// All metrics in the Prometheus text format 0.0.4; without `controls` none about incidents,
/// notices and plans.
std::string expose_metrics(const AgentView& agent, const Controls* controls = nullptr);

/// The tables of all metrics but those of families (Family::metrics), for docs and tests too.
std::vector<std::span<const MetricInfo>> metrics_tables();

}  // namespace wardmote::serve
