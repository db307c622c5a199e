#include "judge/raft/companion.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"
#include "judge/verdict.h"

namespace wardmote::judge::raft {
namespace {

using enum Code;

/// Judgements older than this are not compared.
constexpr Duration kOld = std::chrono::seconds(30);

std::vector<std::string> only_in(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  std::vector<std::string> rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}

Evidence hosts_of(const Side& side) {
  return {std::string(side.cluster),
          fmt::format("voters on {}", fmt::join(side.assessment.hosts, ", "))};
}

Evidence leader_of(const Side& side) {
  const std::string& host = side.assessment.leader_host;
  return {std::string(side.cluster), host.empty() ? "no leader is known" : "leader on " + host};
}

Evidence verdict_of(const Side& side) {
  std::string says(to_string(side.assessment.verdict));
  if (!side.assessment.findings.empty()) {
    const Finding& worst = side.assessment.findings.front();
    says += fmt::format(": {} {}", to_string(worst.code), worst.summary);
  }
  return {std::string(side.cluster), std::move(says)};
}

void compare_hosts(const Side& own, const Side& other, TimePoint shown, Conditions& out) {
  const std::vector<std::string>& a = own.assessment.hosts;
  const std::vector<std::string>& b = other.assessment.hosts;
  if (a.empty() || b.empty()) return out.push_back(uncertain(kOvnNbSbDivergence, "hosts"));
  const std::vector<std::string> only_a = only_in(a, b);
  const std::vector<std::string> only_b = only_in(b, a);
  // Databases without a common host were put on hosts of their own on purpose.
  const bool apart = only_a.size() == a.size();
  if (apart || (only_a.empty() && only_b.empty())) return;
  Condition found = condition(kOvnNbSbDivergence, "hosts", shown);
  found.finding.severity = Severity::kWarning;
  found.finding.subjects = {std::string(own.cluster), std::string(other.cluster)};
  for (const auto* rest : {&only_a, &only_b})
    std::ranges::copy(*rest, std::back_inserter(found.finding.subjects));
  found.finding.summary =
      fmt::format("{} and {} have voters on different hosts", own.cluster, other.cluster);
  found.finding.evidence = {hosts_of(own), hosts_of(other)};
  found.finding.advice =
      Advice{.text = fmt::format("A member was moved or removed in one database only: {}. Compare "
                                 "both with the hosts that should serve them.",
                                 fmt::join(only_a.empty() ? only_b : only_a, ", "))};
  out.push_back(std::move(found));
}

void compare_health(const Side& own, const Side& other, TimePoint shown, Conditions& out) {
  const Verdict a = own.assessment.verdict;
  const Verdict b = other.assessment.verdict;
  if (a == Verdict::kUnknown || b == Verdict::kUnknown)
    return out.push_back(uncertain(kOvnNbSbDivergence, "health"));
  const bool one_is_ill = (a == Verdict::kCritical && b == Verdict::kOk) ||
                          (b == Verdict::kCritical && a == Verdict::kOk);
  if (!one_is_ill) return;
  const Side& ill = a == Verdict::kCritical ? own : other;
  const Side& well = a == Verdict::kCritical ? other : own;
  Condition found = condition(kOvnNbSbDivergence, "health", shown);
  found.finding.subjects = {std::string(ill.cluster)};
  found.finding.summary =
      fmt::format("only {} is ill and {} is not: the fault is in the database, not in the hosts",
                  ill.cluster, well.cluster);
  found.finding.evidence = {verdict_of(ill), verdict_of(well), leader_of(ill), leader_of(well)};
  out.push_back(std::move(found));
}

}  // namespace

ConditionReport compare_sides(const Side& own, const Side& other, ConditionTracker& tracker,
                              Milliseconds election_timer, TimePoint now) {
  Conditions conditions;
  const bool old = now - own.judged > kOld || now - other.judged > kOld;
  if (!old) {
    const TimePoint shown = std::min(own.judged, other.judged);
    compare_hosts(own, other, shown, conditions);
    compare_health(own, other, shown, conditions);
  }
  const Look look{.now = now,
                  .round = election_round(election_timer),
                  .blind_to = [&](std::string_view) { return old; }};
  return tracker.update(std::move(conditions), look);
}

void add_report(Assessment& assessment, ConditionReport report) {
  for (Finding& finding : report.findings) {
    if (finding.severity == Severity::kWarning && assessment.verdict == Verdict::kOk)
      assessment.verdict = Verdict::kWarning;
    const auto milder = std::ranges::find_if(assessment.findings, [&](const Finding& other) {
      return other.severity < finding.severity;
    });
    assessment.findings.insert(milder, std::move(finding));
  }
  std::ranges::move(report.observed, std::back_inserter(assessment.observed));
}

}  // namespace wardmote::judge::raft
