#include "serve/json.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/value.hpp>
#include <vector>

#include "base/time.h"
#include "base/version.h"
#include "judge/check_machine.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "serve/json_values.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::Verdict;

json::value config_json(const AgentView& agent) {
  const ConfigView& config = agent.config;
  if (config.path.empty()) return nullptr;
  json::object object;
  object["path"] = text(config.path);
  object["hash"] = word(config.hash);
  object["applied"] = utc(config.applied, agent.moment());
  object["reloads"] = config.reloads_applied;
  object["restart_needed"] = texts(config.restart_needed);
  object["refused"] = nullptr;
  if (config.refused) {
    json::object refused;
    refused["at"] = utc(config.refused->at, agent.moment());
    refused["problems"] = texts(config.refused->problems);
    object["refused"] = std::move(refused);
  }
  return object;
}

Verdict verdict_of(const CheckView& check) {
  switch (exit_code(check.state, check.optional)) {
    case 0: return Verdict::kOk;
    case 1: return Verdict::kWarning;
    case 2: return Verdict::kCritical;
    default: return Verdict::kUnknown;
  }
}

bool is_probed_from_outside(const GateView& gate) {
  return gate.name == "ready" || gate.name == "live";
}

}  // namespace

json::object to_json(const judge::Finding& finding, Moment at) {
  json::object object;
  object["code"] = word(to_string(finding.code));
  object["severity"] = word(to_string(finding.severity));
  object["subjects"] = texts(finding.subjects);
  object["summary"] = text(finding.summary);
  object["evidence"] = array_of(finding.evidence, [](const judge::Evidence& one) {
    json::object evidence;
    evidence["by"] = text(one.by, kNameCap);
    evidence["says"] = text(one.says);
    return evidence;
  });
  object["advice"] = nullptr;
  if (finding.advice) {
    json::object advice;
    advice["text"] = text(finding.advice->text);
    advice["command"] = texts(finding.advice->command);
    advice["run_on"] = text_or_null(finding.advice->run_on);
    object["advice"] = std::move(advice);
  }
  object["since"] = utc(finding.since, at);
  object["age_ms"] = to_ms(at.now - finding.since);
  return object;
}

json::array findings_json(std::span<const judge::Finding> findings, Moment at) {
  return array_of(findings, [at](const judge::Finding& finding) { return to_json(finding, at); });
}

json::array observed_json(std::span<const judge::Observed> observed, Moment at) {
  return array_of(observed, [&](const judge::Observed& one) {
    json::object object;
    object["code"] = word(to_string(one.code));
    object["subject"] = text(one.subject);
    object["since"] = utc(one.since, at);
    object["due_ms"] = to_ms(one.due - at.now);
    return object;
  });
}

json::object to_json(const CheckView& check, TimePoint now) {
  json::object object;
  object["name"] = text(check.name, kNameCap);
  object["kind"] = text(check.kind, kNameCap);
  object["state"] = word(to_string(check.state.state));
  object["outcome"] = word(to_string(check.state.last));
  object["reason"] = code_or_null(check.reason);
  object["detail"] = text_or_null(check.reason.text);
  object["degraded"] = check.state.degraded;
  object["blind"] = check.state.blind;
  object["optional"] = check.optional;
  object["seen_good"] = check.state.seen_good;
  object["failures"] = check.state.failures;
  object["fall"] = check.policy.fall;
  object["rise"] = check.policy.rise;
  object["exit_code"] = exit_code(check.state, check.optional);
  object["since_ms"] = to_ms(now - check.state.since);
  const bool looked = check.looks > 0;
  object["age_ms"] = looked ? json::value(to_ms(now - check.last_ended)) : json::value(nullptr);
  object["took_ms"] =
      looked ? json::value(to_ms(check.last_ended - check.last_begun)) : json::value(nullptr);
  object["looks"] = check.looks;
  object["missed"] = check.missed;
  object["every_ms"] = to_ms(check.every);
  return object;
}

json::object to_json(const GateView& gate, const std::vector<CheckView>& checks) {
  json::object object;
  object["name"] = text(gate.name, kNameCap);
  object["ready"] = gate.ready;
  object["failing"] = texts(names_of(checks, gate.failing));
  return object;
}

json::object to_json(const AgentView& agent) {
  json::object object;
  object["node"] = text(agent.node, kNameCap);
  object["version"] = word(kVersion);
  object["at"] = word(format_utc(agent.wall_now));
  object["verdict"] = word(to_string(overall_verdict(agent)));
  object["last_event"] = word(agent.last_event);
  object["uptime_ms"] = to_ms(agent.now - agent.started);
  json::object self;
  self["degraded"] = agent.self.complaint.has_value();
  self["complaint"] = text_or_null(agent.self.complaint.value_or(""));
  self["put_aside"] = text_or_null(agent.self.put_aside);
  object["self"] = std::move(self);
  json::object incidents;
  incidents["open"] = agent.incidents.open;
  incidents["gravest"] = nullptr;
  if (agent.incidents.gravest) incidents["gravest"] = word(to_string(*agent.incidents.gravest));
  object["incidents"] = std::move(incidents);
  object["config"] = config_json(agent);
  return object;
}

json::array gates_json(const AgentView& agent) {
  return array_of(agent.gates, [&](const GateView& gate) { return to_json(gate, agent.checks); });
}

namespace {

/// What the thing says, as far as its check counts.
std::optional<Verdict> counted_verdict(const AgentView& agent, const ThingView& thing) {
  const auto verdict = thing.verdict();
  if (!verdict || *verdict == Verdict::kOk) return std::nullopt;
  const auto check = std::ranges::find(agent.checks, thing.id.name, &CheckView::name);
  if (check == agent.checks.end() || !check->optional) return verdict;
  if (!counts(check->state, true)) return std::nullopt;
  return *verdict == Verdict::kCritical ? Verdict::kWarning : *verdict;
}

}  // namespace

Verdict overall_verdict(const AgentView& agent) {
  const bool watches = !agent.things.empty() || !agent.checks.empty();
  Verdict worst = watches ? Verdict::kOk : Verdict::kUnknown;
  const auto include = [&](Verdict verdict) {
    if (badness(verdict) > badness(worst)) worst = verdict;
  };
  for (const auto& thing : agent.things) {
    if (const auto verdict = counted_verdict(agent, *thing)) include(*verdict);
  }
  for (const CheckView& check : agent.checks) {
    if (counts(check.state, check.optional)) include(verdict_of(check));
  }
  if (agent.incidents.gravest) include(verdict_of(*agent.incidents.gravest));
  for (const GateView& gate : agent.gates) {
    if (!gate.ready && is_probed_from_outside(gate)) include(Verdict::kUnknown);
  }
  return worst;
}

}  // namespace wardmote::serve
