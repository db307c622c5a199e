#include "serve/metrics/version_gate_samples.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "judge/reconcile/report.h"
#include "judge/version_gate/report.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/metrics.h"

namespace wardmote::serve {
namespace {

using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using judge::reconcile::Tally;
using judge::version_gate::Report;
using namespace std::chrono_literals;

std::string shown(const Report& gate) {
  Exposition out(metrics_tables());
  add_version_gate_metrics(out, {gate});
  while (out.forget_some()) {
  }
  std::string text;
  out.move_to(text);
  return text;
}

PassReport pass(ObjectReport::Action action) {
  PassReport report{.dry = false, .begun = WallTime(100s), .took = 2s, .writes = 3};
  report.touched.push_back({.object = "ConfigMap default/a", .action = action});
  return report;
}

TEST(VersionGateSamples, CountWhatCameOfPasses) {
  Tally tally;
  tally.add(pass(ObjectReport::Action::kChanged));
  PassReport refused = pass(ObjectReport::Action::kFailed);
  refused.conflicts = 2;
  refused.fenced = true;
  tally.add(refused);
  tally.add(refused);
  Report gate;
  gate.gate = "g";
  gate.node = "a";
  gate.candidates = {{"a", 1}, {"b", 2}};
  gate.tally = tally;
  const std::string text = shown(gate);
  for (const char* const row :
       {"wardmote_version_gate_ready{gate=\"g\"} 0\n",
        "wardmote_version_gate_leads{gate=\"g\"} 1\n",
        "wardmote_reconcile_passes_total{gate=\"g\",result=\"good\"} 1\n",
        "wardmote_reconcile_passes_total{gate=\"g\",result=\"failed\"} 2\n",
        "wardmote_reconcile_objects_total{gate=\"g\",action=\"changed\"} 1\n",
        "wardmote_reconcile_objects_total{gate=\"g\",action=\"failed\"} 2\n",
        "wardmote_reconcile_objects_total{gate=\"g\",action=\"pruned\"} 0\n",
        "wardmote_reconcile_writes_total{gate=\"g\"} 9\n",
        "wardmote_reconcile_conflicts_total{gate=\"g\"} 4\n",
        "wardmote_reconcile_fenced_total{gate=\"g\"} 2\n",
        "wardmote_reconcile_last_good_time_seconds{gate=\"g\"} 102\n"})
    EXPECT_TRUE(text.contains(row)) << row << text;
}

TEST(VersionGateSamples, OfANodeThatMakesNoPassesThereIsOnlyTheGate) {
  Report gate;
  gate.gate = "g";
  gate.node = "a";
  gate.candidates = {{"b", 2}};
  const std::string text = shown(gate);
  EXPECT_TRUE(text.contains("wardmote_version_gate_leads{gate=\"g\"} 0\n")) << text;
  EXPECT_FALSE(text.contains("wardmote_reconcile_")) << text;
}

}  // namespace
}  // namespace wardmote::serve
