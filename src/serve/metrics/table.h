#pragma once

#include <string_view>

#include "serve/metrics/exposition.h"

namespace wardmote::serve {

inline constexpr MetricInfo kMetrics[] = {
    {"wardmote_build_info", MetricType::kGauge, "version", "1 for the version that runs."},
    {"wardmote_start_time_seconds", MetricType::kGauge, "",
     "When the agent started, in seconds since 1970."},
    {"wardmote_up", MetricType::kGauge, "", "1 while the agent answers."},
    {"wardmote_degraded", MetricType::kGauge, "",
     "Whether the agent gets too little CPU to judge others, or cannot store what it sees."},
    {"wardmote_lateness_seconds", MetricType::kGauge, "",
     "How late the agent's last heartbeat ran."},
    {"wardmote_worst_lateness_seconds", MetricType::kGauge, "",
     "How late the latest of the agent's heartbeats ran since its start."},
    {"wardmote_look_lateness_seconds", MetricType::kGauge, "percentile",
     "How late probes began, since the agent's start; 100 is the latest."},
    {"wardmote_verdict", MetricType::kGauge, "",
     "The overall verdict, as the exit code of wardmote status: 0 ok, 1 warning, 2 critical, 3 "
     "unknown."},
    {"wardmote_starved_total", MetricType::kCounter, "",
     "Bad results that did not count because the agent got too little CPU."},
    {"wardmote_config_info", MetricType::kGauge, "hash", "1 for the configuration that runs."},
    {"wardmote_config_applied_time_seconds", MetricType::kGauge, "",
     "Since when the configuration runs, in seconds since 1970."},
    {"wardmote_config_last_reload_successful", MetricType::kGauge, "",
     "1 while the configuration in use is what its files say; 0 after a refusal."},
    {"wardmote_config_reloads_total", MetricType::kCounter, "result",
     "Reloads since the agent's start: applied, unchanged or refused."},
    {"wardmote_check_status", MetricType::kGauge, "check,kind",
     "0 healthy, 1 degraded, failing, or reported but optional, 2 reported, "
     "3 in discovery, or blind and not reported."},
    {"wardmote_check_looks_total", MetricType::kCounter, "check,kind", "Probes that have ended."},
    {"wardmote_check_missed_total", MetricType::kCounter, "check,kind",
     "Probes that were left out because one still ran or the agent did not run."},
    {"wardmote_check_age_seconds", MetricType::kGauge, "check,kind",
     "Seconds since the last probe ended."},
    {"wardmote_check_duration_seconds", MetricType::kGauge, "check,kind",
     "How long the last probe took."},
    {"wardmote_gate_ready", MetricType::kGauge, "gate", "Whether the gate passes."},
    {"wardmote_version_gate_ready", MetricType::kGauge, "gate",
     "Whether this node may serve by the version gate."},
    {"wardmote_version_gate_leads", MetricType::kGauge, "gate",
     "Whether this node is the first in the gate's election."},
    {"wardmote_reconcile_passes_total", MetricType::kCounter, "gate,result",
     "Passes of this node that could write, since the agent's start: good or failed."},
    {"wardmote_reconcile_objects_total", MetricType::kCounter, "gate,action",
     "What came of objects in those passes, but for the unchanged: created, changed, recreated, "
     "pruned, left, failed."},
    {"wardmote_reconcile_writes_total", MetricType::kCounter, "gate",
     "Requests of those passes that could change something."},
    {"wardmote_reconcile_conflicts_total", MetricType::kCounter, "gate",
     "Objects in those passes of which others owned fields that the set wants."},
    {"wardmote_reconcile_fenced_total", MetricType::kCounter, "gate",
     "Passes that the server refused because a later leader had raised the fence."},
    {"wardmote_reconcile_last_good_time_seconds", MetricType::kGauge, "gate",
     "When the last pass of this node ended that left all as it should be, in seconds since 1970; "
     "absent until the first."},
    {"wardmote_incidents_open", MetricType::kGauge, "severity,acknowledged",
     "Incidents that are open."},
    {"wardmote_acts_frozen", MetricType::kGauge, "",
     "Whether a storm keeps the agent from repairs."},
    {"wardmote_notices_total", MetricType::kCounter, "receiver,kind,result",
     "Attempts since the agent's start: delivered, refused (and retried), undelivered (given up); "
     "repeated: may have been delivered before a restart of the agent."},
    {"wardmote_receiver_up", MetricType::kGauge, "receiver,kind",
     "Whether the receiver took the last notification (a mail: for all recipients); absent until "
     "the first."},
    {"wardmote_notices_waiting", MetricType::kGauge, "receiver",
     "Notifications that are not delivered yet."},
    {"wardmote_notice_groups", MetricType::kGauge, "",
     "Groups of incidents that receivers know; beyond 1000, incidents share one group."},
    {"wardmote_silences", MetricType::kGauge, "", "Active silences."},
    {"wardmote_plans", MetricType::kGauge, "state",
     "Plans by state; of ended plans the newest only."},
    {"wardmote_plans_refused", MetricType::kGauge, "policy,cluster,code",
     "Findings that a policy covers and for which no plan is possible; /api/v1/plans says why."},
    {"wardmote_acts_paused", MetricType::kGauge, "scope",
     "1 for a cluster, or all, in which somebody has paused repairs."},
    {"wardmote_journal_rows", MetricType::kGauge, "",
     "Rows that were ever written to the journal of repairs."},
    {"wardmote_journal_stored", MetricType::kGauge, "",
     "Whether the journal of repairs survives a restart of the agent."},
};

consteval Metric metric(std::string_view name) {
  return row_of(kMetrics, name);
}

}  // namespace wardmote::serve
