#include "judge/incident/news.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/outcome.h"

namespace wardmote::judge::incident {
namespace {

constexpr std::size_t kDetailCap = 1024;

News news_of_finding(const std::string& thing, const FindingChanged& change,
                     const Dependencies& known) {
  const Finding& finding = change.finding;
  const CheckPlace& place = known.place_of(thing);
  const bool optional = place.optional && place.owner == change.owner;
  Symptom symptom;
  symptom.owner = change.owner;
  symptom.component = change.component;
  symptom.code = finding.code;
  symptom.severity = optional ? std::min(finding.severity, Severity::kWarning) : finding.severity;
  symptom.optional = optional;
  symptom.names = finding.subjects;
  symptom.summary = finding.summary;
  symptom.since = finding.since;
  const bool is_there = change.step != FindingChanged::Step::kCleared;
  const bool counted = !optional || change.counts;
  return {std::move(symptom), is_there && counted, is_there && !counted};
}

/// The problem of a check, as far as its name and `reason` show.
Symptom symptom_of_check(const std::string& name, const Reason& reason, const Dependencies& known,
                         TimePoint now) {
  const CheckPlace& place = known.place_of(name);
  Symptom symptom;
  symptom.owner = known.owner_of(name);
  const bool answered = reason.code == ReasonCode::kState;
  symptom.component = answered && !place.complains_of.empty() ? place.complains_of : symptom.owner;
  symptom.optional = place.optional;
  symptom.names = {name};
  symptom.since = now;
  return symptom;
}

std::string detail_of(const Reason& reason) {
  return reason.text.empty() ? std::string(to_string(reason.code))
                             : escape_control(reason.text, kDetailCap);
}

std::optional<News> news_of_check(const std::string& name, const CheckChanged& change,
                                  const Dependencies& known, TimePoint now) {
  const CheckPlace& place = known.place_of(name);
  if (place.has_findings) return std::nullopt;
  const bool fails = change.to == State::kReported;
  const bool counted = !place.optional || change.counts;
  // The end is reported again after a reload, when the check does not know that it failed.
  if (!fails && change.to != State::kHealthy) return std::nullopt;
  Symptom symptom = symptom_of_check(name, change.reason, known, now);
  symptom.code = Code::kCheckFailed;
  symptom.severity = place.optional ? Severity::kWarning : info(symptom.code).severity;
  symptom.summary = fmt::format("{} fails: {}", name, detail_of(change.reason));
  return News{std::move(symptom), fails && counted, fails && !counted};
}

std::optional<News> news_of_blindness(const std::string& name, const CheckBlind& change,
                                      const Dependencies& known, TimePoint now) {
  if (known.place_of(name).has_findings) return std::nullopt;
  // Somebody who is seen failing is not well. The end comes when it is good, or reported.
  const bool decided = change.state == State::kHealthy || change.state == State::kReported;
  if (!change.blind && !decided) return std::nullopt;
  Symptom symptom = symptom_of_check(name, change.reason, known, now);
  symptom.code = Code::kMonitorBlind;
  symptom.severity =
      known.place_of(name).optional ? Severity::kWarning : info(symptom.code).severity;
  symptom.summary = fmt::format("nothing is known of {}: {}", name, detail_of(change.reason));
  return News{std::move(symptom), change.blind && change.counts, change.blind && !change.counts};
}

}  // namespace

const CheckPlace& Dependencies::place_of(std::string_view check) const noexcept {
  static const CheckPlace kPlain;
  const auto found = checks.find(check);
  return found == checks.end() ? kPlain : found->second;
}

std::string Dependencies::owner_of(std::string_view check) const {
  const CheckPlace& place = place_of(check);
  return place.owner.empty() ? check_node(check) : place.owner;
}

std::string Dependencies::whole_of(std::string_view name) const {
  std::string_view rest = name;
  const auto found = listed.find(take_until(rest, ':'));
  if (found == listed.end()) return std::string(name);
  const auto& [scope, whole] = *found;
  if (scope != whole) rest = take_until(rest, '/');
  return whole + ":" + std::string(rest);
}

bool Dependencies::lacks(std::string_view name) const {
  const bool knowable = listed.contains(name.substr(0, name.find(':')));
  return knowable && !graph.contains(whole_of(name));
}

bool Dependencies::found_by(std::string_view check, std::string_view root, Code code) const {
  if (whole_of(root) == owner_of(check)) return true;
  // What its own check says of a thing is not this one's finding.
  const bool by_itself = code == Code::kCheckFailed || code == Code::kMonitorBlind;
  const std::vector<std::string>& finds = place_of(check).finds;
  return !by_itself && std::ranges::find(finds, root) != finds.end();
}

std::optional<News> news_of(const Change& change, const Dependencies& known, TimePoint now) {
  if (const auto* const finding = std::get_if<FindingChanged>(&change.event))
    return news_of_finding(change.of.name, *finding, known);
  if (const auto* const check = std::get_if<CheckChanged>(&change.event))
    return news_of_check(change.of.name, *check, known, now);
  if (const auto* const check = std::get_if<CheckBlind>(&change.event))
    return news_of_blindness(change.of.name, *check, known, now);
  return std::nullopt;
}

}  // namespace wardmote::judge::incident
