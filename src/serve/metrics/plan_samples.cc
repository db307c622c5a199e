#include "serve/metrics/plan_samples.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"
#include "judge/plan/planner.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/table.h"
#include "serve/plans.h"

namespace wardmote::serve {
namespace {

using judge::plan::PlanState;

constexpr PlanState kStates[] = {PlanState::kObserved, PlanState::kProposed, PlanState::kRunning,
                                 PlanState::kUnclear,  PlanState::kDone,     PlanState::kFailed,
                                 PlanState::kRejected, PlanState::kWithdrawn};
constexpr std::string_view kEverything = "all";

}  // namespace

void add_plan_metrics(Exposition& out, const PlanControl& control, TimePoint now) {
  // All states, so that a missing sample never stands for 0.
  std::map<PlanState, int> plans;
  for (const PlanState state : kStates) plans[state] = 0;
  for (const auto& [id, plan] : control.planner().plans()) ++plans[plan.state];
  for (const auto& [state, count] : plans) {
    const std::string_view labels[] = {to_string(state)};
    out.add(metric("wardmote_plans"), labels, count);
  }
  // The reason is prose and not a label: each number in it would make another series.
  std::map<std::tuple<std::string, std::string, std::string_view>, int> refusals;
  for (const judge::plan::Refusal& refusal : control.planner().refusals()) {
    ++refusals[{refusal.policy, refusal.target.name, to_string(refusal.code)}];
  }
  for (const auto& [what, count] : refusals) {
    const auto& [policy, cluster, code] = what;
    const std::string_view labels[] = {policy, cluster, code};
    out.add(metric("wardmote_plans_refused"), labels, count);
  }
  for (const auto& [scope, pause] : control.planner().pauses()) {
    if (pause.until && *pause.until <= now) continue;
    const std::string_view labels[] = {scope.empty() ? kEverything : std::string_view(scope)};
    out.add(metric("wardmote_acts_paused"), labels, 1);
  }
  const auto& rows = control.actions();
  out.add(metric("wardmote_journal_rows"), {},
          rows.empty() ? 0 : static_cast<double>(rows.back().sequence));
  out.add(metric("wardmote_journal_stored"), {}, control.stored() ? 1 : 0);
}

}  // namespace wardmote::serve
