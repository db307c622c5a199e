#include "serve/metrics/metrics.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "base/version.h"
#include "judge/bgp/mesh.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "serve/metrics/cluster_samples.h"
#include "serve/metrics/desk_samples.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/plan_samples.h"
#include "serve/metrics/table.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using judge::raft::Verdict;

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

/// As the exit codes of the command line.
int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return 0;
    case Verdict::kWarning: return 1;
    case Verdict::kCritical: return 2;
    case Verdict::kUnknown: return 3;
  }
  return 3;
}

void add_self(Exposition& out, const AgentView& agent) {
  const std::string_view version[] = {kVersion};
  out.add(metric("wardmote_build_info"), version, 1);
  const WallTime started = agent.wall_now - (agent.now - agent.started);
  out.add(metric("wardmote_start_time_seconds"), {}, seconds(started.time_since_epoch()));
  out.add(metric("wardmote_up"), {}, 1);
  out.add(metric("wardmote_degraded"), {}, agent.self.complaint ? 1 : 0);
  out.add(metric("wardmote_lateness_seconds"), {}, seconds(agent.self.lateness));
  out.add(metric("wardmote_worst_lateness_seconds"), {}, seconds(agent.self.worst_lateness));
  const SelfView::LookLateness& late = agent.self.look_lateness;
  const std::pair<std::string_view, Duration> quantiles[] = {
      {"0.5", late.median}, {"0.99", late.p99}, {"1", late.max}};
  for (const auto& [quantile, lateness] : quantiles) {
    const std::string_view label[] = {quantile};
    out.add(metric("wardmote_look_lateness_seconds"), label, seconds(lateness));
  }
  out.add(metric("wardmote_starved_total"), {}, static_cast<double>(agent.self.voided));
}

void add_config(Exposition& out, const AgentView& agent) {
  const ConfigView& config = agent.config;
  if (config.path.empty()) return;
  const std::string_view hash[] = {config.hash};
  out.add(metric("wardmote_config_info"), hash, 1);
  const WallTime applied = agent.wall_now - (agent.now - config.applied);
  out.add(metric("wardmote_config_applied_time_seconds"), {}, seconds(applied.time_since_epoch()));
  out.add(metric("wardmote_config_last_reload_successful"), {}, config.refused ? 0 : 1);
  const std::pair<std::string_view, std::uint64_t> results[] = {
      {"applied", config.reloads_applied},
      {"unchanged", config.reloads_unchanged},
      {"refused", config.reloads_refused}};
  for (const auto& [result, count] : results) {
    const std::string_view label[] = {result};
    out.add(metric("wardmote_config_reloads_total"), label, static_cast<double>(count));
  }
}

int exit_code_of(judge::Outcome outcome) {
  switch (outcome) {
    case judge::Outcome::kOk: return 0;
    case judge::Outcome::kWarn: return 1;
    case judge::Outcome::kFail: return 2;
    case judge::Outcome::kUnknown: return 3;
  }
  return 3;
}

void add_mesh(Exposition& out, const MeshView& mesh) {
  const std::string_view name[] = {mesh.name};
  out.add(metric("wardmote_mesh_outcome"), name, exit_code_of(mesh.assessment.outcome));
  using enum judge::bgp::MeshCell;
  for (const judge::bgp::MeshCell state : {kUp, kDown, kDisabled, kAbsent, kBlind}) {
    std::ptrdiff_t count = 0;
    for (const auto& row : mesh.assessment.mesh.cells) count += std::ranges::count(row, state);
    const std::string_view labels[] = {mesh.name, to_string(state)};
    out.add(metric("wardmote_mesh_sessions"), labels, static_cast<double>(count));
  }
  std::map<std::pair<judge::Code, judge::Severity>, int> standing;
  for (const judge::Finding& finding : mesh.assessment.findings)
    ++standing[{finding.code, finding.severity}];
  for (const auto& [kind, count] : standing) {
    const std::string_view labels[] = {mesh.name, to_string(kind.first), to_string(kind.second)};
    out.add(metric("wardmote_mesh_finding"), labels, count);
  }
}

void add_check(Exposition& out, const CheckView& check, TimePoint now) {
  const std::string_view labels[] = {check.name, check.kind};
  out.add(metric("wardmote_check_status"), labels, exit_code(check.state));
  out.add(metric("wardmote_check_looks_total"), labels, static_cast<double>(check.looks));
  out.add(metric("wardmote_check_missed_total"), labels, static_cast<double>(check.missed));
  if (check.looks > 0)
    out.add(metric("wardmote_check_age_seconds"), labels, seconds(now - check.last_ended));
}

}  // namespace

std::span<const MetricInfo> metrics_table() noexcept {
  return kMetrics;
}

std::string expose_metrics(const AgentView& agent, const Desks* desks) {
  Exposition out(kMetrics);
  add_self(out, agent);
  add_config(out, agent);
  for (const ClusterView& cluster : agent.clusters) {
    ClusterSamples samples(out, cluster);
    add_plunger_metrics(samples);
    const WallTime judged = agent.wall_now - (agent.now - cluster.judged);
    if (cluster.counters.judgements > 0) {
      samples.add(metric("ovn_ops_snapshot_timestamp_seconds"), seconds(judged.time_since_epoch()));
    }
    add_raft_metrics(samples);
    const std::string_view name[] = {cluster.name};
    out.add(metric("wardmote_cluster_verdict"), name, exit_code_of(cluster.assessment.verdict));
  }
  for (const MeshView& mesh : agent.meshes) add_mesh(out, mesh);
  for (const CheckView& check : agent.checks) add_check(out, check, agent.now);
  for (const GateView& gate : agent.gates) {
    const std::string_view name[] = {gate.name};
    out.add(metric("wardmote_gate_ready"), name, gate.ready ? 1 : 0);
  }
  if (desks != nullptr) {
    add_desk_metrics(out, desks->incidents, desks->notify, agent.wall_now);
    add_plan_metrics(out, desks->plans, agent.now);
  }
  return out.text();
}

}  // namespace wardmote::serve
