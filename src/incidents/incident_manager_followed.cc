// What an agent knows of incidents that another one made: the record tells what they are, and the
// words of all agents what fails in them now.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"

namespace wardmote::incidents {

using judge::incident::Incident;
using judge::incident::Phase;
using judge::incident::Symptom;

namespace {

/// Incidents that go on, by what they are of; one that was merged is the one that it goes on in.
std::map<std::string, std::int64_t> ids_by_root(const judge::incident::Book& book) {
  std::map<std::string, std::int64_t> ids;
  for (const auto& [id, incident] : book.incidents()) {
    if (incident.phase == Phase::kMerged) ids.emplace(incident.root, incident.merged_into);
  }
  for (const auto& [id, incident] : book.incidents()) {
    if (incident.phase == Phase::kOpen) ids.insert_or_assign(incident.root, id);
  }
  return ids;
}

/// Of nodes only who leads tells.
Symptom said_by_leader(const Incident& incident) {
  Symptom symptom;
  symptom.owner = symptom.component = incident.root;
  symptom.code = incident.code;
  symptom.severity = incident.severity;
  symptom.summary = incident.summary;
  symptom.since = incident.since;
  return symptom;
}

}  // namespace

const IncidentManager::Followed& IncidentManager::followed() const {
  if (followed_) return *followed_;
  Followed& parts = followed_.emplace();
  const std::map<std::string, std::int64_t> ids = ids_by_root(book_);
  const auto incident_of = [&](const Symptom& symptom) -> std::int64_t {
    std::vector<std::string> places = known_.graph.above(symptom.component);
    places.insert(places.begin(), symptom.component);
    places.push_back(symptom.owner);
    places.push_back("storm:" + symptom.kind);
    for (const std::string& place : places) {
      if (const auto found = ids.find(place); found != ids.end()) return found->second;
    }
    return 0;
  };
  std::set<std::tuple<std::string, std::string, judge::Code, std::string>> known;
  const auto take = [&](const Symptom& symptom) {
    if (symptom.severity == judge::Severity::kInfo) return;
    const std::string& name = symptom.names.empty() ? symptom.component : symptom.names.front();
    // Several agents may say it.
    if (known.emplace(symptom.owner, symptom.component, symptom.code, name).second)
      parts[incident_of(symptom)].push_back(symptom);
  };
  std::ranges::for_each(here_, take);
  for (const auto& [node, symptoms] : peers_) std::ranges::for_each(symptoms, take);
  return parts;
}

std::vector<Symptom> IncidentManager::standing(const Incident& incident, std::size_t most) const {
  if (!follows()) return book_.symptoms_of(incident.id, most);
  const auto found = followed().find(incident.id);
  std::vector<Symptom> symptoms;
  if (found != followed().end()) symptoms = found->second;
  if (incident.code == judge::Code::kNodeDown) symptoms.push_back(said_by_leader(incident));
  std::ranges::sort(symptoms, {}, [](const Symptom& one) {
    return std::tuple(-static_cast<int>(one.severity), one.code, one.since, one.component);
  });
  if (symptoms.size() > most) symptoms.resize(most);
  return symptoms;
}

}  // namespace wardmote::incidents
