#include "agent/failover/pair_watch.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/failover.h"
#include "config/reload_plan.h"
#include "incidents/hold.h"
#include "judge/failover/assess.h"
#include "judge/failover/report.h"
#include "judge/finding.h"
#include "judge/incident/news.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "serve/failover/pair_view.h"
#include "serve/thing_view.h"

namespace wardmote::agent {

using incidents::Round;
using judge::Observation;
using judge::Reason;
using judge::ReasonCode;
using judge::Verdict;
using judge::failover::PairReport;

namespace {

Round round_of(const judge::failover::Assessment& assessment) {
  const bool clean = assessment.verdict == Verdict::kOk && assessment.findings.empty() &&
                     assessment.observed.empty();
  return clean ? Round::kClean : Round::kOther;
}

/// Why the check stands as it does: the worst finding, or what keeps this node from knowing.
Reason reason_of(const serve::PairView& view) {
  if (view.assessment.verdict == Verdict::kOk) return {};
  if (!view.assessment.findings.empty()) {
    const judge::Finding& worst = view.assessment.findings.front();
    return {ReasonCode::kState, std::string(to_string(worst.code)) + ": " + worst.summary};
  }
  const std::vector<std::string>& complaints = view.report.complaints;
  return {ReasonCode::kNotProbed, complaints.empty() ? "the store does not answer" : complaints[0]};
}

std::optional<PairReport> report_of(const PairReports& pairs, const std::string& name) {
  if (!pairs) return std::nullopt;
  for (PairReport& report : pairs()) {
    if (report.name == name) return std::move(report);
  }
  return std::nullopt;
}

/// What is known of it, before anybody judges that.
std::shared_ptr<serve::PairView> not_judged(const config::Failover& pair, const PairReports& pairs,
                                            TimePoint now) {
  auto view = std::make_shared<serve::PairView>(pair.name);
  view->judged = now;
  view->report = report_of(pairs, pair.name).value_or(PairReport{.name = pair.name});
  return view;
}

}  // namespace

class PairProbe final : public observe::Probe {
 public:
  PairProbe(PairWatch& watch, std::string pair) : watch_(watch), pair_(std::move(pair)) {}
  runtime::Task<Observation> look(runtime::Deadline) override { co_return watch_.judge(pair_); }

 private:
  PairWatch& watch_;
  std::string pair_;
};

void PairWatch::depend(const config::Config& config, judge::incident::Dependencies& known) {
  known.listed["failover"] = "failover";
  for (const config::Failover& pair : config.failover) {
    judge::incident::CheckPlace& place = known.checks[pair.name];
    place.owner = serve::pair_node(pair.name);
    place.has_findings = true;
    known.graph.add(place.owner, "failover");
  }
}

Result<Domain::Adopt> PairWatch::prepare(const config::Config&) {
  return [this](const config::Config& now, const config::ReloadPlan&) { adopt(now); };
}

const observe::ProbeKind& PairWatch::kind() const noexcept {
  return config::failover_pair_kind();
}

void PairWatch::adopt(const config::Config& now) {
  auto before = std::exchange(watched_, {});
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  for (const config::Failover& config : now.failover) {
    Pair& pair = watched_[config.name];
    if (const auto earlier = before.find(config.name); earlier != before.end()) {
      pair = std::move(earlier->second);
    } else {
      const auto first = not_judged(config, pairs_, runtime_.now());
      hold_down(first->assessment.verdict, pair.hold.looked(holds_, config.name, Round::kPart));
      pair.shown = first;
    }
    shown.push_back(pair.shown);
  }
  board_.show(judge::failover::kPairKind, std::move(shown));
}

std::unique_ptr<observe::Probe> PairWatch::probe(const config::Check& check) {
  return std::make_unique<PairProbe>(*this, check.name);
}

Observation PairWatch::judge(const std::string& name) {
  const TimePoint now = runtime_.now();
  Observation observation;
  observation.subject = name;
  observation.begun = observation.ended = now;
  const auto found = watched_.find(name);
  std::optional<PairReport> report = report_of(pairs_, name);
  if (found == watched_.end() || !report) {
    observation.reason = {ReasonCode::kNotProbed,
                          "this pair counts from the next start of the agent"};
    return observation;
  }
  Pair& pair = found->second;
  const auto shown = std::make_shared<serve::PairView>(name);
  shown->judged = now;
  shown->report = *std::move(report);
  shown->assessment = judge::failover::assess(shown->report, pair.conditions, now);
  const auto held = pair.hold.looked(holds_, name, round_of(shown->assessment));
  hold_down(shown->assessment.verdict, held);
  observation.outcome = outcome_of(shown->assessment.verdict);
  const bool unseen = held && shown->assessment.findings.empty();
  observation.reason = unseen ? held->reason : reason_of(*shown);
  if (board_.doubt(observation, shown->assessment.observed))
    shown->assessment.verdict = Verdict::kUnknown;
  pair.shown = shown;
  board_.judged(shown, now);
  return observation;
}

}  // namespace wardmote::agent
