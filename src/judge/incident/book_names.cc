// The names of incidents, also of those that are recalled after a restart.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/damping.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {
namespace {

constexpr std::string_view kEarlier = "; earlier: ";
constexpr std::string_view kFlapCalms =
    "nothing of it fails now, but it came and went too often: it ends when it has been calm";
constexpr std::string_view kUnwatched = "it is not watched any more, and nobody saw it good";
constexpr std::string_view kStormCalms =
    "nothing of it fails now: it ends when nothing of its kind has begun to fail for a while";

/// What an incident began with, for the summary.
std::string beginning_of(std::string summary) {
  const auto at = summary.rfind(kEarlier);
  if (at != std::string::npos) summary.erase(0, at + kEarlier.size());
  return summary;
}

/// Whether the problem gave the incident its name, and not the same problem of something below.
bool is_named_after(const Incident& incident, const Symptom& symptom) {
  const auto common = std::ranges::find_first_of(incident.names, symptom.names);
  return incident.code == symptom.code &&
         (incident.names.empty() || symptom.names.empty() || common != incident.names.end());
}

/// Whether it comes before `other`; the catalogue begins with the findings that explain most.
template <class Other>
bool is_graver(Severity severity, Code code, const Other& other) {
  return severity != other.severity ? severity > other.severity : code < other.code;
}

}  // namespace

void Book::recall(const std::vector<Incident>& incidents, TimePoint now) {
  for (const Incident& incident : incidents) {
    last_id_ = std::max(last_id_, incident.id);
    Incident& kept = incidents_[incident.id] = incident;
    kept.symptoms = 0;
    if (kept.phase == Phase::kOpen) {
      open_[kept.root] = kept.id;
      Parts& parts = parts_[kept.id];
      parts.awaited = incident.symptoms;
      parts.unseen_until = parts.grave_until = now + policy_.settle;
      parts.cause = {kept.severity, kept.code, kept.names, beginning_of(kept.summary)};
      if (kept.storm) resume_storm(kept, now);
      // An earlier version did not store it.
      if (kept.flapping && kept.penalty == Penalty{}) kept.penalty = damping_.flapping(now);
    } else if (kept.phase == Phase::kMerged) {
      merged_.insert(kept.id);
    } else {
      remember_last(kept.id);
      ++resolved_;
    }
  }
  forget_old();
}

bool Book::awaited(std::int64_t id) const {
  const auto parts = parts_.find(id);
  return parts != parts_.end() && parts->second.unseen_until.has_value();
}

Steps Book::give_up(std::int64_t id, TimePoint now) {
  Steps steps;
  if (!awaited(id)) return steps;
  parts_.at(id).unseen_until.reset();
  if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
  settle(id, now, steps);
  return steps;
}

/// The problem of the root gives the name. When the root is well and something below still fails,
/// the gravest problem below does, together with what the incident began with.
bool Book::refresh(std::int64_t id) {
  Incident& incident = incidents_.at(id);
  Parts& parts = parts_.at(id);
  incident.symptoms = parts.symptoms.size();
  if (parts.symptoms.empty()) return false;
  renamed_.insert(id);
  if (incident.storm) {
    if (!parts.unseen_until) name_storm(incident, parts);
    return false;
  }
  const Symptom& gravest = standing_.at(std::get<Place>(*parts.symptoms.begin())).symptom;
  const Severity severity = incident.severity;
  const Code code = incident.code;
  if (parts.unseen_until) {
    // The root was not seen yet, so the name from before the restart stays.
    incident.severity = std::max(severity, gravest.severity);
    return incident.severity != severity;
  }
  const std::optional<Title> worst = parts.cause;
  const bool by_cause = !parts.own.empty();
  const Symptom& title =
      by_cause ? standing_.at(std::get<Place>(*parts.own.begin())).symptom : gravest;
  // After a restart the root may be seen before the graver things below it.
  if (parts.symptoms.size() >= parts.awaited) parts.grave_until.reset();
  incident.severity = parts.grave_until ? std::max(severity, gravest.severity) : gravest.severity;
  incident.code = title.code;
  incident.names = title.names;
  incident.summary = title.summary;
  if (by_cause) {
    if (!parts.cause || !is_graver(parts.cause->severity, parts.cause->code, title)) {
      parts.cause = {title.severity, title.code, title.names, title.summary};
    }
  } else if (parts.cause) {
    incident.summary += std::string(kEarlier) + parts.cause->summary;
  }
  // Something that comes and goes too often is reported only when it is worse than before.
  const bool known = incident.flapping && worst && !is_graver(title.severity, title.code, *worst);
  return !known && (incident.severity != severity || incident.code != code);
}

void Book::name_calm(std::int64_t id) {
  Incident& incident = incidents_.at(id);
  const auto& cause = parts_.at(id).cause;
  if (!cause) return;
  incident.code = cause->code;
  incident.names = cause->names;
  incident.summary = std::string(incident.storm ? kStormCalms : kFlapCalms) +
                     std::string(kEarlier) + cause->summary;
  renamed_.insert(id);
}

void Book::name_merged(std::int64_t id) {
  Incident& incident = incidents_.at(id);
  const auto into = incidents_.find(incident.merged_into);
  const std::string root = into == incidents_.end() ? "" : ", " + into->second.root;
  incident.summary = fmt::format("it goes on in incident {}{}{}{}", incident.merged_into, root,
                                 kEarlier, beginning_of(incident.summary));
  renamed_.insert(id);
}

void Book::name_unwatched(Incident& incident) {
  incident.summary =
      std::string(kUnwatched) + std::string(kEarlier) + beginning_of(incident.summary);
}

void Book::end_merged(std::int64_t id, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  incident.phase = Phase::kResolved;
  incident.resolved = now;
  incident.summary = beginning_of(incident.summary);
  if (incident.unwatched) name_unwatched(incident);
  merged_.erase(id);
  ++resolved_;
  remember_last(id);
  tell(StepKind::kResolved, id, now, steps);
}

/// After a restart, a less grave problem, or fewer things than the storm had, may only be what is
/// seen first, because its window is the shortest.
bool Book::sees_again(const Symptom& symptom, std::int64_t id) const {
  const Incident& incident = incidents_.at(id);
  const Parts& parts = parts_.at(id);
  if (incident.storm) return parts.symptoms.size() >= parts.awaited;
  // The root may have been well by then, and the incident be named after what is below it.
  if (!is_own(symptom, incident)) return is_named_after(incident, symptom);
  // Nothing was known then, and something is now.
  if (parts.cause && parts.cause->code == Code::kMonitorBlind) return true;
  if (!parts.cause) return true;
  // Its check may be optional only since the restart.
  const Severity as_now = symptom.optional ? std::min(parts.cause->severity, Severity::kWarning)
                                           : parts.cause->severity;
  return !is_graver(as_now, parts.cause->code, symptom);
}

/// After a restart, only the thing itself can show that it is well.
void Book::end_unseen(const Symptom& symptom, TimePoint now, Steps& steps) {
  const std::int64_t id = open_at(symptom.component);
  if (id != 0 && is_named_after(incidents_.at(id), symptom))
    std::ranges::move(give_up(id, now), std::back_inserter(steps));
  const bool merged = std::ranges::any_of(merged_, [&](std::int64_t part) {
    return incidents_.at(part).root == symptom.component &&
           is_named_after(incidents_.at(part), symptom);
  });
  if (merged) end_merged_at(symptom.component, now, steps);
}

}  // namespace wardmote::judge::incident
