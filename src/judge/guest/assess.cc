#include "judge/guest/assess.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/condition/condition_tracker.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {
namespace {

std::string called(const Names& names) {
  const bool named = !names.instance.empty() && names.instance != names.name;
  return named ? fmt::format("guest {} ({})", names.name, names.instance)
               : fmt::format("guest {}", names.name);
}

std::string_view says(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kNeverAnswered:
      return "has a channel for a guest agent, and no agent was ever heard";
    case Verdict::kAgentDown: return "runs without its guest agent";
    case Verdict::kAgentStuck: return "is alive, and its guest agent does not answer";
    case Verdict::kNoAnswer: return "does not answer";
    case Verdict::kIdleHung: return "does not answer, does no I/O and uses hardly any CPU";
    case Verdict::kSpinning: return "does not answer, does no I/O and uses up a CPU";
    case Verdict::kBootStuck: return "did not come back after it began to boot";
    case Verdict::kPanic: return "panicked";
    case Verdict::kDied: return "is gone: its QEMU ended, and nobody asked for it";
    case Verdict::kQemuStuck: return "does not run: its QEMU is stopped or stuck on the host";
    case Verdict::kHostStorage: return "is paused, because its disk failed or is full";
    default: return "";
  }
}

void add_evidence(const Machine& machine, TimePoint now, Finding& finding) {
  finding.evidence.push_back(
      {"hypervisor", fmt::format("{}, agent channel {}", to_string(machine.run()),
                                 to_string(machine.channel()))});
  if (machine.failures() > 0) {
    finding.evidence.push_back(
        {"guest agent", fmt::format("no answer to {} ping{} in a row, each within {}",
                                    machine.failures(), machine.failures() == 1 ? "" : "s",
                                    format_duration(machine.policy().timeout))});
  }
  if (machine.last_answer()) {
    finding.evidence.push_back(
        {"guest agent",
         fmt::format("last answer {} ago", format_duration(now - *machine.last_answer()))});
  }
  for (Evidence& sign : machine.signs().evidence(now)) finding.evidence.push_back(std::move(sign));
  std::string counted = machine.activity().text();
  if (!counted.empty()) finding.evidence.push_back({"counters", std::move(counted)});
}

void add_alarms(const Machine& machine, Code code, Finding& finding) {
  finding.summary += ", as often before";
  finding.evidence.push_back(
      {"this agent",
       fmt::format("{}, the alarm number {} within {}", to_string(code), machine.alarms(),
                   format_duration(machine.policy().alarm_window))});
}

}  // namespace

Assessment assess(const Machine& machine, const InsideWatch& inside, const Names& names,
                  ConditionTracker& memory, TimePoint now) {
  Assessment made;
  made.verdict = machine.verdict(now);
  const InsidePolicy nothing{.freeze = false, .clock = false, .file_systems = false};
  const Policy& policy = machine.policy();
  Conditions conditions =
      inside.conditions(policy.watched ? policy.inside : nothing, called(names), names.uuid, now);
  if (const std::optional<Code> code = code_of(made.verdict)) {
    const bool again = machine.keeps_failing();
    Condition seen = condition(again ? Code::kVmKeepsFailing : *code, names.uuid, now);
    seen.since = machine.since();
    seen.finding.summary = fmt::format("{} {}", called(names), says(made.verdict));
    if (again) add_alarms(machine, *code, seen.finding);
    add_evidence(machine, now, seen.finding);
    conditions.push_back(std::move(seen));
  }
  const bool quiet = made.verdict == Verdict::kMaintenance || made.verdict == Verdict::kIgnored;
  if (!code_of(made.verdict) && !quiet && !policy.compat) {
    Conditions signs = machine.signs().conditions(called(names), names.uuid, now);
    std::ranges::move(signs, std::back_inserter(conditions));
  }
  for (Condition& one : conditions) one.finding.subjects = {names.name, names.uuid};
  ConditionReport report =
      memory.update(std::move(conditions), {.now = now,
                                            .round = machine.policy().interval,
                                            .blind_to = [](std::string_view) { return false; }});
  made.findings = std::move(report.findings);
  made.observed = std::move(report.observed);
  return made;
}

}  // namespace wardmote::judge::guest
