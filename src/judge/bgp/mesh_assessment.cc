#include "judge/bgp/mesh_assessment.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"

namespace wardmote::judge::bgp {
namespace {

std::size_t position_of(const std::vector<MeshView>& views, const std::string& name) {
  const auto at = std::ranges::find(views, name, &MeshView::name);
  return static_cast<std::size_t>(at - views.begin());
}

/// The same fault has the same key, whichever end reports it.
std::string subject_of(const MeshProblem& problem, const std::vector<MeshView>& views) {
  if (problem.to.empty()) return problem.from;
  const bool in_order = position_of(views, problem.from) < position_of(views, problem.to);
  return in_order ? pair_name(problem.from, problem.to) : pair_name(problem.to, problem.from);
}

/// When the last probe that shows the fault began.
TimePoint shown_at(const MeshProblem& problem, const std::vector<MeshView>& views) {
  TimePoint shown = views[position_of(views, problem.from)].begun;
  if (!problem.to.empty()) shown = std::max(shown, views[position_of(views, problem.to)].begun);
  return shown;
}

Condition condition_of(const MeshProblem& problem, const std::vector<MeshView>& views) {
  std::string subject = subject_of(problem, views);
  Condition made = condition(code_of(problem.fault), subject, shown_at(problem, views));
  made.finding.severity = problem.severity;
  made.finding.subjects.push_back(std::move(subject));
  made.finding.summary = problem.summary;
  if (problem.suppressed != 0)
    made.finding.summary += fmt::format("; {} sessions are down because of it", problem.suppressed);
  made.finding.evidence = problem.evidence;
  if (problem.stands) made.since = made.shown - *problem.stands;
  return made;
}

/// The nodes whose state is unknown, and their sessions.
std::set<std::string, std::less<>> hidden(const std::vector<MeshView>& views) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i].unsure) names.insert(views[i].name);
    for (std::size_t j = i + 1; j < views.size(); ++j) {
      if (views[i].unsure || views[j].unsure) names.insert(pair_name(views[i].name, views[j].name));
    }
  }
  return names;
}

std::optional<Severity> worst_of(const std::vector<Finding>& findings) {
  const auto worst = std::ranges::max_element(findings, {}, &Finding::severity);
  return worst == findings.end() ? std::nullopt : std::optional(worst->severity);
}

}  // namespace

Code code_of(MeshFault fault) noexcept {
  switch (fault) {
    case MeshFault::kDaemonDown: return Code::kBgpDaemonDown;
    case MeshFault::kMissingPeer: return Code::kBgpMissingPeer;
    case MeshFault::kAsymmetric: return Code::kBgpAsymmetric;
    case MeshFault::kWrongAs: return Code::kBgpWrongAs;
    case MeshFault::kDisabled: return Code::kBgpDisabled;
    case MeshFault::kRefused: return Code::kBgpRefused;
    case MeshFault::kUnreachable: return Code::kBgpUnreachable;
    case MeshFault::kPasswordSuspected: return Code::kBgpPasswordMismatch;
    case MeshFault::kNoAnswer: return Code::kBgpNoAnswer;
    case MeshFault::kDown: return Code::kBgpSessionDown;
  }
  return Code::kBgpSessionDown;
}

std::string pair_name(const std::string& first, const std::string& second) {
  return first + "/" + second;
}

MeshAssessment judge_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation,
                          ConditionTracker& memory, TimePoint now) {
  MeshAssessment assessment;
  assessment.mesh = assess_mesh(views, expectation);
  Conditions conditions;
  for (const MeshProblem& problem : assessment.mesh.problems)
    conditions.push_back(condition_of(problem, views));
  const auto unknown = hidden(views);
  const Look look{
      .now = now,
      .blind_to = [&](std::string_view key) { return unknown.contains(key); },
  };
  ConditionReport report = memory.update(std::move(conditions), look);
  assessment.findings = std::move(report.findings);
  assessment.observed = std::move(report.observed);
  assessment.outcome = outcome_of(views, worst_of(assessment.findings));
  return assessment;
}

}  // namespace wardmote::judge::bgp
