// Incidents that turned out to be parts of others. They end when nothing of them fails any more,
// and not before, because the receivers of their beginning wait for that.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {

void Book::merge(std::int64_t from, std::int64_t into, TimePoint now, Steps& steps) {
  const std::set<Rank> symptoms = parts_.at(from).symptoms;
  for (const Rank& rank : symptoms) {
    detach(std::get<Place>(rank), from);
    attach(std::get<Place>(rank), into);
  }
  Incident& merged = incidents_.at(from);
  Incident& whole = incidents_.at(into);
  if (!whole.storm) {
    for (const std::string& thing : merged.things) add_thing(whole.things, thing);
  }
  if (const auto& cause = parts_.at(from).cause) {
    merged.code = cause->code;
    merged.names = cause->names;
    merged.summary = cause->summary;
  }
  merged.phase = Phase::kMerged;
  merged.merged_into = into;
  merged.flapping = false;
  merged.symptoms = 0;
  open_.erase(merged.root);
  parts_.erase(from);
  merged_.insert(from);
  hand_over(from, into);
  refresh(into);
  name_merged(from);
  tell(StepKind::kMerged, from, now, steps);
}

void Book::hand_over(std::int64_t from, std::int64_t into, const std::string& root) {
  for (const std::int64_t id : merged_) {
    Incident& merged = incidents_.at(id);
    if (merged.merged_into != from) continue;
    const bool meant = root.empty() || merged.root == root || graph_.is_above(root, merged.root);
    if (!meant) continue;
    merged.merged_into = into;
    name_merged(id);
  }
}

/// Whether anything fails there, or below.
bool Book::fails(const std::string& root) const {
  return failing_.contains(root) || where_fails(root) != 0;
}

/// The incident of the failures there and below; 0: nothing fails.
std::int64_t Book::where_fails(const std::string& root) const {
  if (!failing_.contains(root) && !graph_.carries(root)) return 0;
  for (const auto& [place, standing] : standing_) {
    const std::string& component = standing.symptom.component;
    if (component == root || graph_.is_above(root, component)) return standing.incident;
  }
  return 0;
}

void Book::end_merged_at(const std::string& component, TimePoint now, Steps& steps) {
  if (merged_.empty()) return;
  const std::vector<std::string> above = graph_.above(component);
  const std::set<std::int64_t> merged = merged_;
  for (const std::int64_t id : merged) {
    const std::string root = incidents_.at(id).root;
    const bool concerned = root == component || std::ranges::find(above, root) != above.end();
    if (concerned && !fails(root)) end_merged(id, now, steps);
  }
}

/// Its parts end with it, except those that were moved elsewhere.
void Book::end_merged_into(std::int64_t id, TimePoint now, Steps& steps) {
  const std::set<std::int64_t> merged = merged_;
  for (const std::int64_t part : merged) {
    Incident& incident = incidents_.at(part);
    if (incident.merged_into != id) continue;
    const std::int64_t elsewhere = where_fails(incident.root);
    if (elsewhere == 0) {
      end_merged(part, now, steps);
    } else {
      incident.merged_into = elsewhere;
      name_merged(part);
    }
  }
}

/// Merged incidents whose target was lost with a record of an earlier run.
void Book::end_stray(TimePoint now, Steps& steps) {
  const std::set<std::int64_t> merged = merged_;
  for (const std::int64_t id : merged) {
    const std::int64_t into = incidents_.at(id).merged_into;
    if (!parts_.contains(into)) end_merged_into(into, now, steps);
  }
}

}  // namespace wardmote::judge::incident
