#include "serve/metrics/version_gate_samples.h"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/reconcile/report.h"
#include "judge/version_gate/report.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/table.h"

namespace wardmote::serve {
namespace {

using judge::reconcile::Tally;
using judge::version_gate::Report;
using Action = judge::reconcile::ObjectReport::Action;

constexpr Action kActions[] = {Action::kCreated, Action::kChanged, Action::kRecreated,
                               Action::kPruned,  Action::kLeft,    Action::kFailed};

void add_tally(Exposition& out, std::string_view gate, const Tally& tally) {
  const auto add = [&](Metric metric, std::string_view what, std::uint64_t count) {
    const std::string_view labels[] = {gate, what};
    out.add(metric, labels, static_cast<double>(count));
  };
  add(metric("wardmote_reconcile_passes_total"), "good", tally.good);
  add(metric("wardmote_reconcile_passes_total"), "failed", tally.failed);
  // All rows, so that a missing sample never stands for 0.
  for (const Action action : kActions) {
    const auto found = tally.objects.find(action);
    add(metric("wardmote_reconcile_objects_total"), to_string(action),
        found == tally.objects.end() ? 0 : found->second);
  }
  const std::string_view labels[] = {gate};
  const std::pair<Metric, std::uint64_t> counts[] = {
      {metric("wardmote_reconcile_writes_total"), tally.writes},
      {metric("wardmote_reconcile_conflicts_total"), tally.conflicts},
      {metric("wardmote_reconcile_fenced_total"), tally.fenced}};
  for (const auto& [metric, count] : counts) out.add(metric, labels, static_cast<double>(count));
  if (!tally.last_good) return;
  const std::chrono::duration<double> since = tally.last_good->time_since_epoch();
  out.add(metric("wardmote_reconcile_last_good_time_seconds"), labels, since.count());
}

}  // namespace

void add_version_gate_metrics(Exposition& out, const std::vector<Report>& gates) {
  for (const Report& gate : gates) {
    const std::string_view labels[] = {gate.gate};
    out.add(metric("wardmote_version_gate_ready"), labels, gate.admission.ready() ? 1 : 0);
    const bool leads = !gate.candidates.empty() && gate.candidates.front().node == gate.node;
    out.add(metric("wardmote_version_gate_leads"), labels, leads ? 1 : 0);
    if (gate.tally) add_tally(out, gate.gate, *gate.tally);
  }
}

}  // namespace wardmote::serve
