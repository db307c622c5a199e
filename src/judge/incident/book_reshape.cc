// What happens to incidents when the configuration changes, at a reload or between two runs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {
namespace {

constexpr std::string_view kCheck = "check:";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Steps Book::reshape(Graph graph, const Departures& left, TimePoint now) {
  Steps steps;
  std::vector<std::int64_t> leaving;
  std::vector<std::int64_t> merged_leaving;
  for (const auto& [root, id] : open_) {
    if (leaves(root, left.gone)) leaving.push_back(id);
  }
  for (const std::int64_t id : merged_) {
    if (leaves(incidents_.at(id).root, left.gone)) merged_leaving.push_back(id);
  }
  for (const std::int64_t id : merged_leaving) incidents_.at(id).unwatched = true;
  graph_ = std::move(graph);
  await_again(left.replaced, now);
  withdraw(left.gone, now, steps);
  for (const std::int64_t id : leaving) disown(id, now, steps);
  for (const std::int64_t id : merged_leaving) {
    if (merged_.contains(id) && !fails(incidents_.at(id).root)) end_merged(id, now, steps);
  }
  end_stray(now, steps);
  return steps;
}

/// A member leaves with its cluster. What depends on a check that leaves does not.
bool Book::leaves(const std::string& root, const std::vector<std::string>& gone) const {
  if (contains(gone, root)) return true;
  if (root.starts_with(kCheck)) return false;
  return std::ranges::any_of(graph_.above(root),
                             [&](const std::string& upper) { return contains(gone, upper); });
}

/// That they are not watched any more does not mean that they are well.
void Book::withdraw(const std::vector<std::string>& gone, TimePoint now, Steps& steps) {
  std::vector<Symptom> over;
  for (const auto& [place, standing] : standing_) {
    if (contains(gone, standing.symptom.owner)) over.push_back(standing.symptom);
  }
  for (const Symptom& symptom : over) {
    Incident& incident = incidents_.at(incident_of(symptom));
    const bool last = parts_.at(incident.id).symptoms.size() == 1;
    if (is_own(symptom, incident) || (last && incident.storm)) incident.unwatched = true;
    add_thing(incident.left, symptom.component);
    std::ranges::move(clear(symptom, now), std::back_inserter(steps));
  }
}

/// Its root has left: the incident waits neither for the root nor for calm.
void Book::disown(std::int64_t id, TimePoint now, Steps& steps) {
  const auto parts = parts_.find(id);
  if (parts == parts_.end()) return;
  Incident& incident = incidents_.at(id);
  incident.flapping = false;
  if (parts->second.unseen_until) incident.unwatched = true;
  parts->second.unseen_until.reset();
  if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
  settle(id, now, steps);
}

Steps Book::leave(const std::string& component, std::string_view kind, TimePoint now) {
  Steps steps;
  std::int64_t home = open_at(storm_root(kind));
  for (auto& [id, incident] : incidents_) {
    const bool of_it = incident.root == component || contains(incident.things, component);
    if (incident.phase == Phase::kResolved || !of_it) continue;
    add_thing(incident.left, component);
    renamed_.insert(id);
    if (incident.phase == Phase::kOpen) home = id;
  }
  const auto at = parts_.find(home);
  if (at == parts_.end()) return steps;
  Parts& parts = at->second;
  if (parts.awaited > 0) --parts.awaited;
  // Others may still be seen again.
  if (parts.awaited > 0 || !parts.symptoms.empty() || !parts.unseen_until) return steps;
  const Incident& incident = incidents_.at(home);
  incidents_.at(home).unwatched = incident.storm || incident.root == component;
  return give_up(home, now);
}

/// A failed check stays failed until it is good. For anything else, the incident waits for the
/// problem to be seen again, as after a restart.
void Book::await_again(const std::vector<std::string>& replaced, TimePoint now) {
  std::map<std::int64_t, std::size_t> waiting;
  for (auto at = standing_.begin(); at != standing_.end();) {
    const auto next = std::next(at);
    const Symptom& symptom = at->second.symptom;
    if (symptom.code != Code::kCheckFailed && contains(replaced, symptom.owner)) {
      const std::int64_t id = at->second.incident;
      waiting.try_emplace(id, parts_.at(id).symptoms.size());
      take_out(at);
    }
    at = next;
  }
  for (const auto& [id, symptoms] : waiting) {
    Parts& parts = parts_.at(id);
    const Incident& incident = incidents_.at(id);
    if (!parts.cause)
      parts.cause = {incident.severity, incident.code, incident.names, incident.summary};
    parts.awaited = symptoms;
    parts.unseen_until = now + policy_.settle;
    refresh(id);
  }
}

}  // namespace wardmote::judge::incident
