#include "serve/metrics/metrics.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/version.h"
#include "judge/check_machine.h"
#include "judge/verdict.h"
#include "serve/json.h"
#include "serve/metrics/control_samples.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/fact_table.h"
#include "serve/metrics/measurement.h"
#include "serve/metrics/plan_samples.h"
#include "serve/metrics/table.h"
#include "serve/metrics/version_gate_samples.h"
#include "serve/renderer.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
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
  const std::pair<std::string_view, Duration> percentiles[] = {
      {"50", late.median}, {"99", late.p99}, {"100", late.max}};
  for (const auto& [percentile, lateness] : percentiles) {
    const std::string_view label[] = {percentile};
    out.add(metric("wardmote_look_lateness_seconds"), label, seconds(lateness));
  }
  out.add(metric("wardmote_verdict"), {}, exit_code_of(overall_verdict(agent)));
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

void add_check(Exposition& out, const CheckView& check, TimePoint now) {
  const std::string_view labels[] = {check.name, check.kind};
  out.add(metric("wardmote_check_status"), labels, exit_code(check.state, check.optional));
  out.add(metric("wardmote_check_looks_total"), labels, static_cast<double>(check.looks));
  out.add(metric("wardmote_check_missed_total"), labels, static_cast<double>(check.missed));
  if (check.looks == 0) return;
  out.add(metric("wardmote_check_age_seconds"), labels, seconds(now - check.last_ended));
  out.add(metric("wardmote_check_duration_seconds"), labels,
          seconds(check.last_ended - check.last_begun));
  if (!check.measured) return;
  for (const Measurement& one : *check.measured) {
    std::vector<std::string_view> values = {check.name};
    values.insert(values.end(), one.labels.begin(), one.labels.end());
    out.add(one.metric, values, one.value);
  }
}

Exposition::Tables tables_of(const AgentView& agent) {
  Exposition::Tables tables = metrics_tables();
  for (const Family* const family : agent.families) tables.push_back(family->metrics);
  return tables;
}

/// First the single metrics, then those of each thing and each check.
class MetricsRendering final : public Rendering {
 public:
  MetricsRendering(const AgentView& agent, std::optional<Controls> controls)
      : agent_(agent), desks_(controls), out_(tables_of(agent)) {}

  bool add_piece(std::string& text) override {
    const std::size_t piece = piece_++;
    if (piece == 0) {
      add_single();
      return true;
    }
    std::size_t i = piece - 1;
    if (i < agent_.things.size()) {
      agent_.things[i]->measure(out_, agent_.moment());
      return true;
    }
    i -= agent_.things.size();
    if (i < agent_.checks.size()) {
      add_check(out_, agent_.checks[i], agent_.now);
      return true;
    }
    if (out_.forget_some()) return true;
    out_.move_to(text);
    return false;
  }

 private:
  void add_single() {
    add_self(out_, agent_);
    add_config(out_, agent_);
    for (const GateView& gate : agent_.gates) {
      const std::string_view name[] = {gate.name};
      out_.add(metric("wardmote_gate_ready"), name, gate.ready ? 1 : 0);
    }
    if (!desks_) return;
    add_desk_metrics(out_, desks_->incidents, desks_->notify, agent_.wall_now);
    add_plan_metrics(out_, desks_->plans, agent_.now);
    if (desks_->version_gates != nullptr)
      add_version_gate_metrics(out_, desks_->version_gates->gates());
  }

  const AgentView agent_;
  const std::optional<Controls> desks_;
  Exposition out_;
  std::size_t piece_ = 0;
};

}  // namespace

std::vector<std::span<const MetricInfo>> metrics_tables() {
  return {kMetrics, kFactMetrics};
}

std::unique_ptr<Rendering> render_metrics(const AgentView& agent, const Controls& controls) {
  return std::make_unique<MetricsRendering>(agent, controls);
}

std::string expose_metrics(const AgentView& agent, const Controls* controls) {
  MetricsRendering rendering(
      agent, controls == nullptr ? std::nullopt : std::optional<Controls>(*controls));
  std::string text;
  while (rendering.add_piece(text)) {
  }
  return text;
}

}  // namespace wardmote::serve
