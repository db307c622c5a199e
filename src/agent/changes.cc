#include "agent/changes.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/change_feed.h"
#include "base/format.h"
#include "base/log.h"
#include "base/time.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/assess.h"
#include "serve/json.h"
#include "serve/view.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using judge::Finding;
using judge::Outcome;
using judge::Severity;
using judge::State;
using judge::raft::Assessment;
using judge::raft::Verdict;

LogLevel level_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return LogLevel::kInfo;
    case Severity::kWarning: return LogLevel::kWarning;
    case Severity::kCritical: return LogLevel::kError;
  }
  return LogLevel::kWarning;
}

LogLevel level_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return LogLevel::kInfo;
    case Verdict::kWarning:
    case Verdict::kUnknown: return LogLevel::kWarning;
    case Verdict::kCritical: return LogLevel::kError;
  }
  return LogLevel::kWarning;
}

LogLevel level_of(State state) {
  switch (state) {
    case State::kDiscovery:
    case State::kHealthy: return LogLevel::kInfo;
    case State::kError: return LogLevel::kWarning;
    case State::kReported: return LogLevel::kError;
  }
  return LogLevel::kWarning;
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// A subject learns names while it is looked at, so one name in common makes it the same.
bool same(const Finding& a, const Finding& b) {
  if (a.code != b.code) return false;
  if (a.subjects.empty() || b.subjects.empty()) return a.subjects.empty() && b.subjects.empty();
  return std::ranges::find_first_of(a.subjects, b.subjects) != a.subjects.end();
}

const Finding* find_same(std::span<const Finding> findings, const Finding& wanted) {
  const auto found =
      std::ranges::find_if(findings, [&](const Finding& one) { return same(one, wanted); });
  return found == findings.end() ? nullptr : &*found;
}

/// `owner` is the cluster or mesh whose findings they are.
void tell_findings(ChangeFeed& feed, const LogField& owner, std::span<const Finding> before,
                   std::span<const Finding> after, TimePoint now) {
  for (const Finding& finding : after) {
    const Finding* const earlier = find_same(before, finding);
    if (earlier != nullptr && earlier->severity == finding.severity) continue;
    feed.tell(level_of(finding.severity), earlier == nullptr ? "finding_raised" : "finding_changed",
              {owner,
               {"code", std::string(to_string(finding.code))},
               {"severity", std::string(to_string(finding.severity))},
               {"subjects", join(finding.subjects)},
               {"summary", finding.summary}},
              serve::to_json(finding, now, feed.wall_now()), &finding);
  }
  for (const Finding& finding : before) {
    if (find_same(after, finding) != nullptr) continue;
    json::object data = serve::to_json(finding, now, feed.wall_now());
    data["stood_ms"] = to_ms(now - finding.since);
    feed.tell(LogLevel::kInfo, "finding_cleared",
              {owner,
               {"code", std::string(to_string(finding.code))},
               {"subjects", join(finding.subjects)},
               {"stood", format_duration(now - finding.since)}},
              std::move(data), &finding);
  }
}

void tell_members(ChangeFeed& feed, const serve::ClusterView& cluster, const Assessment& before) {
  const auto& after = cluster.assessment.members;
  for (std::size_t i = 0; i < after.size() && i < cluster.opinions.size(); ++i) {
    const bool known = i < before.members.size();
    const bool unchanged = known && before.members[i].outcome == after[i].outcome &&
                           before.members[i].reason.code == after[i].reason.code;
    if (unchanged) continue;
    feed.tell(after[i].outcome == Outcome::kOk ? LogLevel::kInfo : LogLevel::kWarning,
              "member_changed",
              {{"cluster", cluster.name},
               {"member", cluster.opinions[i].member},
               {"from", std::string(known ? to_string(before.members[i].outcome) : "none")},
               {"to", std::string(to_string(after[i].outcome))},
               {"reason", std::string(to_string(after[i].reason.code))},
               {"detail", after[i].reason.text}});
  }
}

}  // namespace

void tell_cluster_changes(ChangeFeed& feed, const serve::ClusterView& cluster,
                          const Assessment& before, TimePoint now) {
  tell_members(feed, cluster, before);
  tell_findings(feed, {"cluster", cluster.name}, before.findings, cluster.assessment.findings, now);
  if (cluster.assessment.verdict == before.verdict) return;
  feed.tell(level_of(cluster.assessment.verdict), "cluster_verdict",
            {{"cluster", cluster.name},
             {"from", std::string(to_string(before.verdict))},
             {"to", std::string(to_string(cluster.assessment.verdict))}});
}

void tell_mesh_changes(ChangeFeed& feed, const serve::MeshView& mesh,
                       const judge::bgp::MeshAssessment& before, TimePoint now) {
  tell_findings(feed, {"mesh", mesh.name}, before.findings, mesh.assessment.findings, now);
}

void tell_check_change(ChangeFeed& feed, const serve::CheckView& check,
                       const judge::CheckState& before) {
  const judge::CheckState& after = check.state;
  const std::string reason(to_string(check.reason.code));
  if (before.state != after.state) {
    feed.tell(level_of(after.state), "check_changed",
              {{"check", check.name},
               {"from", std::string(to_string(before.state))},
               {"to", std::string(to_string(after.state))},
               {"reason", reason},
               {"detail", check.reason.text}});
  }
  if (before.blind != after.blind) {
    feed.tell(after.blind ? LogLevel::kError : LogLevel::kInfo,
              after.blind ? "check_blind" : "check_seen_again",
              {{"check", check.name}, {"reason", reason}, {"detail", check.reason.text}});
  }
  if (after.overdue && !before.overdue) {
    feed.tell(LogLevel::kWarning, "check_overdue",
              {{"check", check.name}, {"reason", reason}, {"detail", check.reason.text}});
  }
}

void tell_gate_change(ChangeFeed& feed, const serve::GateView& gate,
                      const std::vector<serve::CheckView>& checks) {
  const std::vector<std::string> failing = serve::names_of(checks, gate.failing);
  json::object data;
  data["failing"] = json::array(failing.begin(), failing.end());
  feed.tell(gate.ready ? LogLevel::kInfo : LogLevel::kWarning,
            gate.ready ? "gate_opened" : "gate_closed",
            {{"gate", gate.name}, {"failing", join(failing)}}, std::move(data));
}

void tell_self_change(ChangeFeed& feed, const std::string& node,
                      const std::optional<std::string>& before,
                      const std::optional<std::string>& after) {
  if (before.has_value() == after.has_value()) return;
  feed.tell(after ? LogLevel::kWarning : LogLevel::kInfo,
            after ? "agent_degraded" : "agent_recovered",
            {{"agent", node}, {"complaint", after.value_or("")}});
}

}  // namespace wardmote::agent
