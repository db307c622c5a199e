#include "judge/incident/book.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {
namespace {

std::string storm_root(const std::string& kind) {
  return "storm:" + kind;
}

}  // namespace

bool same(const Symptom& a, const Symptom& b) {
  if (a.owner != b.owner || a.code != b.code) return false;
  if (a.names.empty() || b.names.empty()) return a.names.empty() && b.names.empty();
  return std::ranges::find_first_of(a.names, b.names) != a.names.end();
}

std::string_view to_string(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::kOpened: return "opened";
    case StepKind::kReopened: return "reopened";
    case StepKind::kChanged: return "changed";
    case StepKind::kFlapping: return "flapping";
    case StepKind::kAcknowledged: return "acknowledged";
    case StepKind::kMerged: return "merged";
    case StepKind::kResolved: return "resolved";
  }
  return "changed";
}

std::string_view to_string(Phase phase) noexcept {
  return phase == Phase::kOpen ? "open" : "resolved";
}

Book::Book(Graph graph, BookPolicy policy)
    : graph_(std::move(graph)), policy_(policy), damping_(policy.damping), storms_(policy.storm) {}

Steps Book::raise(const Symptom& symptom, TimePoint now) {
  Steps steps;
  if (const auto known = find(symptom); known != standing_.end()) {
    // Out and in again, because its severity is counted.
    const std::int64_t id = known->second.incident;
    detach(known->first, id);
    const TimePoint since = known->second.symptom.since;
    const std::string component = known->second.symptom.component;
    known->second.symptom = symptom;
    known->second.symptom.since = since;
    known->second.symptom.component = component;
    attach(known->first, id);
    if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
    return steps;
  }
  const Place place{symptom.owner, symptom.code, next_place_++};
  standing_[place] = {symptom, 0};
  ++failing_[symptom.component];

  const std::string kind(graph_.kind(symptom.owner));
  std::int64_t id = 0;
  if (!kind.empty() && storms_.begin(kind, symptom.owner, graph_.population(kind), now)) {
    id = begin_storm(kind, now, steps);
  } else if (storms_.rages(kind)) {
    id = open_at(storm_root(kind));
  }
  if (id == 0) id = choose(symptom.component, now, steps);
  // An incident that flaps stays open over its quiet times, which must not make it calm.
  if (incidents_.at(id).flapping && parts_.at(id).symptoms.empty() && steps.empty()) {
    damping_.begin(incidents_.at(id).root, now);
  }
  attach(place, id);
  parts_.at(id).unseen_until.reset();
  const bool fresh = std::ranges::any_of(steps, [&](const Step& step) {
    return step.incident.id == id && step.kind != StepKind::kMerged;
  });
  if (refresh(id) && !fresh) tell(StepKind::kChanged, id, now, steps);
  // A new one is told of as it looks with its first symptom.
  for (Step& step : steps) {
    if (step.incident.id != id) continue;
    const std::uint64_t revision = step.incident.revision;
    step.incident = incidents_.at(id);
    step.incident.revision = revision;
  }
  return steps;
}

Steps Book::clear(const Symptom& symptom, TimePoint now) {
  Steps steps;
  const auto known = find(symptom);
  if (known == standing_.end()) {
    end_unseen(symptom, now, steps);
    return steps;
  }
  const std::int64_t id = known->second.incident;
  const auto failing = failing_.find(known->second.symptom.component);
  if (--failing->second == 0) failing_.erase(failing);
  detach(known->first, id);
  standing_.erase(known);
  if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
  settle(id, now, steps);
  return steps;
}

Steps Book::acknowledge(std::int64_t id, std::string by, std::string comment, TimePoint now) {
  Steps steps;
  const auto found = incidents_.find(id);
  if (found == incidents_.end() || found->second.phase != Phase::kOpen) return steps;
  found->second.acknowledged = {std::move(by), std::move(comment), now};
  tell(StepKind::kAcknowledged, id, now, steps);
  return steps;
}

Steps Book::reshape(Graph graph, const std::vector<std::string>& gone, TimePoint now) {
  graph_ = std::move(graph);
  std::vector<Symptom> over;
  for (const auto& [place, standing] : standing_) {
    if (std::ranges::find(gone, standing.symptom.owner) != gone.end()) {
      over.push_back(standing.symptom);
    }
  }
  Steps steps;
  for (const Symptom& symptom : over)
    std::ranges::move(clear(symptom, now), std::back_inserter(steps));
  return steps;
}

Steps Book::pass(TimePoint now) {
  Steps steps;
  storms_.pass(now);
  damping_.forget(now);
  std::vector<std::int64_t> idle;
  for (auto& [id, parts] : parts_) {
    if (parts.unseen_until && now >= *parts.unseen_until) parts.unseen_until.reset();
    if (parts.symptoms.empty()) idle.push_back(id);
  }
  for (const std::int64_t id : idle) settle(id, now, steps);
  forget_old();
  return steps;
}

std::optional<TimePoint> Book::next_change() const {
  std::optional<TimePoint> soonest = storms_.next();
  const auto consider = [&](TimePoint at) {
    if (!soonest || at < *soonest) soonest = at;
  };
  for (const auto& [id, parts] : parts_) {
    if (parts.unseen_until) {
      consider(*parts.unseen_until);
    } else if (parts.symptoms.empty() && incidents_.at(id).flapping) {
      consider(damping_.calm_at(incidents_.at(id).root));
    }
  }
  return soonest;
}

void Book::recall(const std::vector<Incident>& incidents, TimePoint now) {
  for (const Incident& incident : incidents) {
    last_id_ = std::max(last_id_, incident.id);
    Incident& kept = incidents_[incident.id] = incident;
    kept.symptoms = 0;
    if (kept.phase == Phase::kOpen) {
      open_[kept.root] = kept.id;
      parts_[kept.id].unseen_until = now + policy_.settle;
    } else {
      if (kept.merged_into == 0) last_[kept.root] = kept.id;
      ++resolved_;
    }
  }
  forget_old();
}

std::int64_t Book::incident_of(const Symptom& symptom) const {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): find() changes nothing
  const auto known = const_cast<Book*>(this)->find(symptom);
  return known == standing_.end() ? 0 : known->second.incident;
}

std::vector<Symptom> Book::symptoms_of(std::int64_t id, std::size_t most) const {
  std::vector<Symptom> symptoms;
  const auto parts = parts_.find(id);
  if (parts == parts_.end()) return symptoms;
  for (const Rank& rank : parts->second.symptoms) {
    if (symptoms.size() == most) break;
    symptoms.push_back(standing_.at(std::get<Place>(rank)).symptom);
  }
  return symptoms;
}

std::map<Book::Place, Book::Standing>::iterator Book::find(const Symptom& symptom) {
  auto at = standing_.lower_bound(Place{symptom.owner, symptom.code, 0});
  for (; at != standing_.end(); ++at) {
    if (std::get<0>(at->first) != symptom.owner || std::get<1>(at->first) != symptom.code) break;
    if (same(at->second.symptom, symptom)) return at;
  }
  return standing_.end();
}

Book::Rank Book::rank(const Place& place) const {
  const Symptom& symptom = standing_.at(place).symptom;
  return {-static_cast<int>(symptom.severity), symptom.since, place};
}

/// The highest that fails: things above are listed nearest first, so the last one is it.
std::string Book::root_of(const std::string& component) const {
  std::string root = component;
  for (const std::string& upper : graph_.above(component)) {
    if (failing_.contains(upper)) root = upper;
  }
  return root;
}

std::int64_t Book::open_at(const std::string& root) const {
  const auto found = open_.find(root);
  return found == open_.end() ? 0 : found->second;
}

/// The incident for a symptom of `component`.
std::int64_t Book::choose(const std::string& component, TimePoint now, Steps& steps) {
  const std::string root = root_of(component);
  std::int64_t id = open_at(root);
  if (id == 0) {
    // What stood above and is well again may still carry its incident.
    for (const std::string& upper : graph_.above(component)) {
      if (id = open_at(upper); id != 0) return id;
    }
    id = rise(root, now, steps);
  }
  return id != 0 ? id : open(root, now, steps);
}

/// If incidents stand below `root`, which fails now too: the oldest of them becomes its own, and
/// the others are merged into that. Else 0.
std::int64_t Book::rise(const std::string& root, TimePoint now, Steps& steps) {
  std::vector<std::int64_t> below;
  for (const auto& [lower, id] : open_) {
    if (graph_.is_above(root, lower)) below.push_back(id);
  }
  if (below.empty()) return 0;
  std::ranges::sort(below);
  const std::int64_t id = below.front();
  Incident& oldest = incidents_.at(id);
  open_.erase(oldest.root);
  oldest.root = root;
  open_[root] = id;
  for (std::size_t i = 1; i < below.size(); ++i) merge(below[i], id, now, steps);
  tell(StepKind::kChanged, id, now, steps);
  return id;
}

std::int64_t Book::open(const std::string& root, TimePoint now, Steps& steps) {
  const auto last = last_.find(root);
  std::int64_t id = 0;
  StepKind kind = StepKind::kOpened;
  if (last != last_.end() && now - *incidents_.at(last->second).resolved < policy_.reopen_within) {
    id = last->second;
    last_.erase(last);
    --resolved_;
    Incident& again = incidents_.at(id);
    again.phase = Phase::kOpen;
    again.resolved.reset();
    again.acknowledged.reset();
    ++again.reopened;
    kind = StepKind::kReopened;
  } else {
    id = ++last_id_;
    Incident& fresh = incidents_[id];
    fresh.id = id;
    fresh.root = root;
    fresh.opened = now;
  }
  open_[root] = id;
  parts_[id] = {};
  Incident& incident = incidents_.at(id);
  if (damping_.begin(root, now) && !incident.storm) {
    incident.flapping = true;
    kind = StepKind::kFlapping;
  }
  tell(kind, id, now, steps);
  return id;
}

std::int64_t Book::begin_storm(const std::string& kind, TimePoint now, Steps& steps) {
  const std::string root = storm_root(kind);
  std::int64_t id = open_at(root);
  if (id == 0) {
    id = open(root, now, steps);
    Incident& storm = incidents_.at(id);
    storm.storm = true;
    storm.flapping = false;
  }
  std::vector<std::int64_t> part_of_it;
  for (const auto& [other_root, other] : open_) {
    const Incident& incident = incidents_.at(other);
    if (other == id || incident.storm || now - incident.opened > policy_.storm.window) continue;
    if (graph_.kind(other_root) == kind) part_of_it.push_back(other);
  }
  for (const std::int64_t other : part_of_it) merge(other, id, now, steps);
  return id;
}

void Book::merge(std::int64_t from, std::int64_t into, TimePoint now, Steps& steps) {
  const std::set<Rank> symptoms = parts_.at(from).symptoms;
  for (const Rank& rank : symptoms) {
    detach(std::get<Place>(rank), from);
    attach(std::get<Place>(rank), into);
  }
  incidents_.at(from).merged_into = into;
  end(from, StepKind::kMerged, now, steps);
  refresh(into);
}

void Book::attach(const Place& place, std::int64_t id) {
  standing_.at(place).incident = id;
  parts_.at(id).symptoms.insert(rank(place));
}

void Book::detach(const Place& place, std::int64_t id) {
  parts_.at(id).symptoms.erase(rank(place));
}

bool Book::refresh(std::int64_t id) {
  Incident& incident = incidents_.at(id);
  const Parts& parts = parts_.at(id);
  incident.symptoms = parts.symptoms.size();
  if (parts.symptoms.empty()) return false;
  const Symptom& gravest = standing_.at(std::get<Place>(*parts.symptoms.begin())).symptom;
  const Severity severity = incident.storm ? Severity::kCritical : gravest.severity;
  const bool changed = incident.severity != severity || incident.code != gravest.code;
  incident.severity = severity;
  incident.code = gravest.code;
  incident.names = gravest.names;
  incident.summary =
      incident.storm ? fmt::format("{} of {} things of the kind '{}' failed at once; the first: {}",
                                   incident.symptoms, graph_.population(graph_.kind(gravest.owner)),
                                   graph_.kind(gravest.owner), gravest.summary)
                     : gravest.summary;
  return changed && !incident.storm;
}

/// Ends an incident of which nothing stands any more, unless it has to be calm first.
void Book::settle(std::int64_t id, TimePoint now, Steps& steps) {
  const Parts& parts = parts_.at(id);
  const Incident& incident = incidents_.at(id);
  if (!parts.symptoms.empty() || parts.unseen_until) return;
  if (incident.flapping && !damping_.calm(incident.root, now)) return;
  if (incident.storm && storms_.rages(incident.root.substr(storm_root("").size()))) return;
  end(id, StepKind::kResolved, now, steps);
}

/// After a restart, that a thing is well is known of the thing alone.
void Book::end_unseen(const Symptom& symptom, TimePoint now, Steps& steps) {
  const std::int64_t id = open_at(symptom.component);
  if (id == 0 || incidents_.at(id).code != symptom.code) return;
  Parts& parts = parts_.at(id);
  if (!parts.unseen_until || !parts.symptoms.empty()) return;
  parts.unseen_until.reset();
  settle(id, now, steps);
}

void Book::end(std::int64_t id, StepKind how, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  incident.phase = Phase::kResolved;
  incident.resolved = now;
  incident.flapping = false;
  incident.symptoms = 0;
  open_.erase(incident.root);
  parts_.erase(id);
  ++resolved_;
  // One that was merged is not opened again: its cause is another.
  if (how == StepKind::kResolved) last_[incident.root] = id;
  tell(how, id, now, steps);
  forget_old();
}

void Book::tell(StepKind kind, std::int64_t id, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  incident.changed = now;
  ++incident.revision;
  steps.push_back({kind, incident});
}

void Book::forget_old() {
  for (auto at = incidents_.begin(); resolved_ > policy_.keep_resolved && at != incidents_.end();) {
    if (at->second.phase == Phase::kOpen) {
      ++at;
      continue;
    }
    const auto last = last_.find(at->second.root);
    if (last != last_.end() && last->second == at->first) last_.erase(last);
    forgotten_.push_back(at->first);
    at = incidents_.erase(at);
    --resolved_;
  }
}

}  // namespace wardmote::judge::incident
