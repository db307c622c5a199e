#include "serve/change_text.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "serve/json.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::Outcome;
using judge::Severity;
using judge::State;
using judge::Verdict;

constexpr std::size_t kFieldCap = 1024;

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

LogLevel level_of(const judge::incident::Step& step) {
  using enum judge::incident::StepKind;
  if (step.kind == kResolved || step.kind == kMerged || step.kind == kAcknowledged ||
      step.kind == kUnacknowledged)
    return LogLevel::kInfo;
  return step.incident.severity == Severity::kCritical ? LogLevel::kError : LogLevel::kWarning;
}

struct PlanLevel {
  judge::PlanChanged::Of of;
  std::string_view word;
  LogLevel level;
};

/// The level of all others is info.
constexpr auto kPlanLevels = std::to_array<PlanLevel>({
    {judge::PlanChanged::Of::kPlan, "proposed", LogLevel::kWarning},
    {judge::PlanChanged::Of::kPlan, "approved", LogLevel::kWarning},
    {judge::PlanChanged::Of::kPlan, "failed", LogLevel::kError},
    {judge::PlanChanged::Of::kPlan, "unclear", LogLevel::kError},
    {judge::PlanChanged::Of::kStep, "begun", LogLevel::kWarning},
    {judge::PlanChanged::Of::kStep, "failed", LogLevel::kError},
});

LogLevel level_of(const judge::PlanChanged& plan) {
  for (const PlanLevel& row : kPlanLevels) {
    if (row.of == plan.of && row.word == plan.word) return row.level;
  }
  return LogLevel::kInfo;
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

template <class Named>
std::string word(Named value) {
  return std::string(to_string(value));
}

/// One event: its kind, level and fields, and the values that the JSON has in another form than the
/// log line.
class Writer {
 public:
  explicit Writer(const judge::Change& change) : change_(change) {
    text_.fields.push_back({to_string(change.of.kind), change.of.name});
  }

  ChangeText write() {
    std::visit(*this, change_.event);
    json::object data;
    for (std::size_t i = 1; i < text_.fields.size(); ++i) {
      const LogField& field = text_.fields[i];
      data[field.key] = escape_control(field.value, kFieldCap);
    }
    for (auto& [key, value] : more_) data[key] = std::move(value);
    text_.data = json::serialize(data);
    return std::move(text_);
  }

  void operator()(const judge::CheckChanged& check) {
    begin("check_changed", level_of(check.to));
    add("from", word(check.from));
    add("to", word(check.to));
    add(check.reason);
    more_["counts"] = check.counts;
    more_["seen_good"] = check.seen_good;
  }
  void operator()(const judge::CheckBlind& check) {
    begin(check.blind ? "check_blind" : "check_seen_again",
          check.blind ? LogLevel::kError : LogLevel::kInfo);
    add(check.reason);
  }
  void operator()(const judge::VerdictChanged& verdict) {
    begin("cluster_verdict", level_of(verdict.to));
    add("from", word(verdict.from));
    add("to", word(verdict.to));
  }
  void operator()(const judge::MemberChanged& member) {
    begin("member_changed", member.to == Outcome::kOk ? LogLevel::kInfo : LogLevel::kWarning);
    add("member", member.member);
    add("from", member.from ? word(*member.from) : "none");
    add("to", word(member.to));
    add(member.reason);
  }
  void operator()(const judge::FindingChanged& changed) {
    using enum judge::FindingChanged::Step;
    const judge::Finding& finding = changed.finding;
    more_ = to_json(finding, Moment{changed.now, change_.at});
    if (changed.step == kCleared) {
      begin("finding_cleared", LogLevel::kInfo);
    } else {
      begin(changed.step == kRaised ? "finding_raised" : "finding_changed",
            level_of(finding.severity));
    }
    add("code", word(finding.code));
    if (changed.step != kCleared) add("severity", word(finding.severity));
    add("subjects", join(finding.subjects));
    if (changed.step != kCleared) return add("summary", finding.summary);
    add("stood", format_duration(changed.now - finding.since));
    more_["stood_ms"] = to_ms(changed.now - finding.since);
  }
  void operator()(const judge::GateChanged& gate) {
    begin(gate.open ? "gate_opened" : "gate_closed",
          gate.open ? LogLevel::kInfo : LogLevel::kWarning);
    add("failing", join(gate.failing));
    more_["failing"] = json::array(gate.failing.begin(), gate.failing.end());
  }
  void operator()(const judge::IncidentChanged& changed) {
    const judge::incident::Incident& incident = changed.step.incident;
    begin("incident_" + word(changed.step.kind), level_of(changed.step));
    add("root", incident.root);
    add("code", word(incident.code));
    add("severity", word(incident.severity));
    add("summary", incident.summary);
    if (changed.step.kind == judge::incident::StepKind::kAcknowledged && incident.acknowledged) {
      more_["by"] = escape_control(incident.acknowledged->by);
      more_["comment"] = escape_control(incident.acknowledged->comment);
    }
    if (changed.step.kind == judge::incident::StepKind::kMerged)
      more_["merged_into"] = incident.merged_into;
  }
  void operator()(const judge::DeliveryChanged& delivery) {
    using enum judge::DeliveryChanged::Result;
    switch (delivery.result) {
      case kDelivered:
        begin("notice_delivered", delivery.detail.empty() ? LogLevel::kInfo : LogLevel::kWarning);
        break;
      case kRefused: begin("notice_refused", LogLevel::kWarning); break;
      case kUndelivered: begin("notice_undelivered", LogLevel::kError); break;
    }
    add("key", delivery.key);
    add("incidents", fmt::format("{}", fmt::join(delivery.incidents, " ")));
    add("detail", delivery.detail);
    more_["incidents"] = json::array(delivery.incidents.begin(), delivery.incidents.end());
  }
  void operator()(const judge::SilenceChanged& silence) {
    begin(silence.added ? "silence_added" : "silence_expired", LogLevel::kInfo);
    if (!silence.added) return;
    add("by", silence.by);
    add("until", format_utc(silence.until));
    add("comment", silence.comment);
  }
  void operator()(const judge::PlanChanged& plan) {
    const bool step = plan.of == judge::PlanChanged::Of::kStep;
    begin((step ? "step_" : "plan_") + plan.word, level_of(plan));
    add("cluster", plan.cluster);
    add("of", plan.target);
    add("step", plan.step);
    add("detail", plan.detail);
    if (plan.incident != 0) more_["incident"] = plan.incident;
  }
  void operator()(const judge::ActsPaused& acts) {
    begin(acts.paused ? "acts_paused" : "acts_resumed",
          acts.paused ? LogLevel::kWarning : LogLevel::kInfo);
    add("by", acts.by);
  }
  void operator()(const judge::AgentHealth& agent) {
    begin(agent.complaint ? "agent_degraded" : "agent_recovered",
          agent.complaint ? LogLevel::kWarning : LogLevel::kInfo);
    add("complaint", agent.complaint.value_or(""));
  }

 private:
  void begin(std::string kind, LogLevel level) {
    text_.kind = std::move(kind);
    text_.level = level;
  }
  void add(std::string_view key, std::string value) {
    text_.fields.push_back({key, std::move(value)});
  }
  void add(const judge::Reason& reason) {
    add("reason", word(reason.code));
    add("detail", reason.text);
  }

  const judge::Change& change_;
  ChangeText text_;
  json::object more_;
};

}  // namespace

ChangeText text_of(const judge::Change& change) {
  return Writer(change).write();
}

}  // namespace wardmote::serve
