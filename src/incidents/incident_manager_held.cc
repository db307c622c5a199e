// What an earlier life of the agent knew of things, until it is seen again or over.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/format.h"
#include "incidents/held_verdict.h"
#include "incidents/incident_manager.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "runtime/runtime.h"

namespace wardmote::incidents {

using judge::Severity;
using judge::incident::Incident;
using judge::incident::Symptom;

namespace {

constexpr std::size_t kSomeSymptoms = 100;

}  // namespace

std::vector<std::int64_t> IncidentManager::awaited_of(std::string_view check) const {
  std::vector<std::int64_t> ids;
  if (follows()) return ids;
  for (const auto& [id, incident] : book_.incidents()) {
    if (book_.awaited(id) && known_.found_by(check, incident.root, incident.code))
      ids.push_back(id);
  }
  return ids;
}

/// Whether somebody has seen it in the present life of his agent.
bool IncidentManager::confirmed(const Incident& incident) const {
  if (incident.phase != judge::incident::Phase::kOpen) return true;
  const auto is_seen = [&](const Symptom& symptom) { return !unlooked_.contains(symptom.owner); };
  if (!follows()) {
    if (unlooked_.empty() || book_.awaited(incident.id)) return !book_.awaited(incident.id);
    const std::vector<Symptom> standing = book_.symptoms_of(incident.id, kSomeSymptoms);
    return standing.empty() || std::ranges::any_of(standing, is_seen);
  }
  // Of nodes only who leads tells: what it says is seen now.
  if (incident.root.starts_with("node:")) return true;
  const auto parts = followed().find(incident.id);
  // A storm of which nothing fails any more goes on until it is calm.
  if (parts == followed().end()) return is_all_seen(incident);
  return std::ranges::any_of(parts->second, is_seen);
}

std::optional<HeldVerdict> IncidentManager::held(std::string_view check) const {
  const Incident* gravest = nullptr;
  for (const std::int64_t id : awaited_of(check)) {
    const Incident& incident = book_.incidents().at(id);
    if (gravest == nullptr || incident.severity > gravest->severity) gravest = &incident;
  }
  // Its incident may be that of a cause which was seen at once.
  const auto reported = unseen_.find(check);
  const bool critical = gravest != nullptr && gravest->severity == Severity::kCritical;
  if (!critical && reported != unseen_.end() && runtime_.now() < unseen_until_)
    return HeldVerdict{judge::Verdict::kCritical, reported->second};
  if (gravest == nullptr) return std::nullopt;
  return HeldVerdict{judge::verdict_of(gravest->severity),
                     {judge::ReasonCode::kState,
                      fmt::format("{}: {}", to_string(gravest->code), gravest->summary)},
                     !well_before_.contains(check)};
}

void IncidentManager::seen_well(std::string_view check,
                                std::span<const judge::Code> shown_at_once) {
  std::erase_if(unseen_, [check](const auto& reported) { return reported.first == check; });
  for (const std::int64_t id : awaited_of(check)) {
    const judge::Code code = book_.incidents().at(id).code;
    if (std::ranges::find(shown_at_once, code) != shown_at_once.end())
      take(book_.give_up(id, runtime_.now()));
  }
}

/// A thing that is found as bad as it was is held no longer by what was known of it.
void IncidentManager::see_again(const judge::Change& change) {
  const auto* const told = std::get_if<judge::FindingChanged>(&change.event);
  if (told == nullptr || told->finding.severity != Severity::kCritical) return;
  if (told->step == judge::FindingChanged::Step::kCleared) return;
  std::erase_if(unseen_, [&](const auto& reported) {
    return known_.owner_of(reported.first) == told->owner;
  });
}

}  // namespace wardmote::incidents
