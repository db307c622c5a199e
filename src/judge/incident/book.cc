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

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {

namespace {

constexpr std::size_t kMostThings = 100;

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
    case StepKind::kUnacknowledged: return "unacknowledged";
    case StepKind::kMerged: return "merged";
    case StepKind::kResolved: return "resolved";
  }
  return "changed";
}

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::kOpen: return "open";
    case Phase::kMerged: return "merged";
    case Phase::kResolved: return "resolved";
  }
  return "open";
}

Book::Book(Graph graph, BookPolicy policy)
    : graph_(std::move(graph)),
      policy_(policy),
      damping_(policy.damping),
      storms_(policy.storm),
      freeze_(policy.storm) {}

Steps Book::raise(const Symptom& symptom, TimePoint now) {
  Steps steps;
  if (const auto known = find(symptom); known != standing_.end()) {
    // Removed and added again, because its severity is counted.
    const std::int64_t id = known->second.incident;
    detach(known->first, id);
    const TimePoint since = known->second.symptom.since;
    const std::string component = known->second.symptom.component;
    known->second.symptom = symptom;
    known->second.symptom.since = since;
    known->second.symptom.component = component;
    attach(known->first, id);
    if (sees_again(symptom, id)) parts_.at(id).unseen_until.reset();
    if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
    return steps;
  }
  const Place place{symptom.owner, symptom.code, next_place_++};
  standing_[place] = {symptom, 0};
  ++failing_[symptom.component];

  std::int64_t id = in_storm(symptom, now, steps);
  if (id == 0) id = choose(symptom.component, now, steps);
  put(symptom, id, place, now, steps);
  return steps;
}

Steps Book::raise_again(const Symptom& symptom, TimePoint now) {
  const std::int64_t home = find(symptom) == standing_.end() ? home_of(symptom) : 0;
  if (home == 0) return raise(symptom, now);
  Steps steps;
  const Place place{symptom.owner, symptom.code, next_place_++};
  standing_[place] = {symptom, 0};
  ++failing_[symptom.component];
  put(symptom, home, place, now, steps);
  return steps;
}

void Book::put(const Symptom& symptom, std::int64_t id, const Place& place, TimePoint now,
               Steps& steps) {
  // A flapping incident stays open over its quiet times; its age must not make it calm.
  if (incidents_.at(id).flapping && parts_.at(id).symptoms.empty() && steps.empty()) {
    damping_.begin(incidents_.at(id).penalty, now);
  }
  attach(place, id);
  if (sees_again(symptom, id)) parts_.at(id).unseen_until.reset();
  const bool fresh = std::ranges::any_of(steps, [&](const Step& step) {
    return step.incident.id == id && step.kind != StepKind::kMerged;
  });
  const bool changed = refresh(id);
  const bool counted = count_storm(id, now);
  if ((changed || counted) && !fresh) tell(StepKind::kChanged, id, now, steps);
  // The opening step of a new incident shows it with its first symptom.
  for (Step& step : steps) {
    if (step.incident.id != id) continue;
    const std::uint64_t revision = step.incident.revision;
    step.incident = incidents_.at(id);
    step.incident.revision = revision;
  }
}

/// The open incident of a component: its own, one in which it failed, that of the highest failing
/// thing above it, or the storm of its kind.
std::int64_t Book::home_of(const Symptom& symptom) const {
  std::int64_t home = open_at(symptom.component);
  if (home != 0) return home;
  // Whatever it depends on now.
  for (const auto& [id, parts] : parts_) {
    const std::vector<std::string>& things = incidents_.at(id).things;
    if (std::ranges::find(things, symptom.component) != things.end()) return id;
  }
  for (const std::string& upper : graph_.above(symptom.component)) {
    if (const std::int64_t id = open_at(upper); id != 0) home = id;
  }
  return home != 0 ? home : open_at(storm_root(graph_.kind(symptom.owner)));
}

Steps Book::clear(const Symptom& symptom, TimePoint now) {
  Steps steps;
  const auto known = find(symptom);
  if (known == standing_.end()) {
    end_unseen(symptom, now, steps);
    return steps;
  }
  const std::int64_t id = known->second.incident;
  const std::string component = known->second.symptom.component;
  const std::string owner = known->second.symptom.owner;
  take_out(known);
  const auto rest = standing_.lower_bound(Place{owner, Code{}, 0});
  if (rest == standing_.end() || std::get<0>(rest->first) != owner) {
    storms_.forget(std::string(graph_.kind(owner)), owner);
    freeze_.forget(std::string(graph_.kind(owner)), owner);
  }
  Parts& parts = parts_.at(id);
  const bool of_cause = parts.cause && parts.cause->code == symptom.code;
  if (parts.symptoms.empty() && of_cause) parts.unseen_until.reset();
  count_storm(id, now);
  if (refresh(id)) tell(StepKind::kChanged, id, now, steps);
  settle(id, now, steps);
  end_merged_at(component, now, steps);
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

Steps Book::pass(TimePoint now) {
  Steps steps;
  storms_.pass(now);
  freeze_.pass(now);
  std::vector<std::int64_t> idle;
  for (auto& [id, parts] : parts_) {
    bool news = recount_storm(id, now);
    if (parts.unseen_until && now >= *parts.unseen_until) {
      parts.unseen_until.reset();
      news = refresh(id) || news;
    }
    if (parts.grave_until && now >= *parts.grave_until) {
      parts.grave_until.reset();
      news = refresh(id) || news;
    }
    if (parts.symptoms.empty()) {
      idle.push_back(id);
    } else if (news) {
      tell(StepKind::kChanged, id, now, steps);
    }
  }
  for (const std::int64_t id : idle) settle(id, now, steps);
  end_stray(now, steps);
  forget_old();
  return steps;
}

std::optional<TimePoint> Book::next_change() const {
  std::optional<TimePoint> soonest = storms_.next();
  const auto consider = [&](TimePoint at) {
    if (!soonest || at < *soonest) soonest = at;
  };
  if (const auto thaw = freeze_.next()) consider(*thaw);
  for (const auto& [id, parts] : parts_) {
    if (parts.tell_at) consider(*parts.tell_at);
    if (parts.grave_until) consider(*parts.grave_until);
    if (parts.unseen_until) {
      consider(*parts.unseen_until);
    } else if (parts.symptoms.empty() && incidents_.at(id).flapping) {
      consider(damping_.calm_at(incidents_.at(id).penalty));
    }
  }
  return soonest;
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

/// A cluster reports itself and its members; all others report only themselves.
bool Book::is_own(const Symptom& symptom, const Incident& incident) {
  return symptom.component == incident.root || symptom.owner == incident.root;
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
  return {-static_cast<int>(symptom.severity), symptom.code, symptom.since, place};
}

/// The highest failing thing: things above are listed nearest first, so the last one is it.
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
    // A thing above that has failed and is well again may still have an open incident.
    for (const std::string& upper : graph_.above(component)) {
      if (id = open_at(upper); id != 0) return id;
    }
    id = rise(root, now, steps);
  }
  return id != 0 ? id : open(root, now, steps);
}

/// If incidents are below `root`, which fails now too, the oldest of them takes `root` as its root,
/// and the others are merged into it. A storm that `root` explains only in part stays, without that
/// part. 0 when nothing is below.
std::int64_t Book::rise(const std::string& root, TimePoint now, Steps& steps) {
  if (!graph_.carries(root)) return 0;
  std::vector<std::int64_t> below;
  for (const auto& [lower, id] : open_) {
    if (graph_.is_above(root, lower)) below.push_back(id);
  }
  auto of_storms = explained_of_storms(root);
  std::vector<Place> rest;
  for (const auto& [storm, places] : of_storms) {
    std::ranges::copy(take_rest(storm, places), std::back_inserter(rest));
    if (places.size() == parts_.at(storm).symptoms.size()) below.push_back(storm);
  }
  if (below.empty() && of_storms.empty()) return 0;
  std::ranges::sort(below);
  for (const std::int64_t id : below) {
    of_storms.erase(id);
    call_off(incidents_.at(id));
  }
  const std::int64_t id = below.empty() ? open(root, now, steps) : below.front();
  if (!below.empty()) set_root(id, root, now, steps);
  for (std::size_t i = 1; i < below.size(); ++i) merge(below[i], id, now, steps);
  for (const auto& [storm, places] : of_storms) {
    for (const Place& place : places) {
      detach(place, storm);
      attach(place, id);
    }
    hand_over(storm, id, root);
    refresh(storm);
  }
  forget_crowd(id);
  if (!below.empty()) tell(StepKind::kChanged, id, now, steps);
  for (const Place& place : rest) set_alone(place, now, steps);
  return id;
}

void Book::set_root(std::int64_t id, const std::string& root, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  const bool another = incident.root != root;
  open_.erase(incident.root);
  incident.root = root;
  if (another && std::exchange(incident.acknowledged, {}))
    tell(StepKind::kUnacknowledged, id, now, steps);
  open_[root] = id;
  Parts& parts = parts_.at(id);
  const std::set<Rank> symptoms = std::exchange(parts, {}).symptoms;
  for (const Rank& rank : symptoms) attach(std::get<Place>(rank), id);
  hand_over(id, id);
}

std::int64_t Book::open(const std::string& root, TimePoint now, Steps& steps) {
  const auto last = last_.find(root);
  std::int64_t id = 0;
  StepKind kind = StepKind::kOpened;
  if (last != last_.end() && now - *incidents_.at(last->second).resolved < policy_.reopen_within) {
    id = last->second;
    std::erase_if(last_, [&](const auto& entry) { return entry.second == id; });
    --resolved_;
    Incident& again = incidents_.at(id);
    again.phase = Phase::kOpen;
    again.root = root;
    again.merged_into = 0;
    again.resolved.reset();
    again.acknowledged.reset();
    again.unwatched = false;
    again.left.clear();
    ++again.reopened;
    again.since = now;
    again.told_size = again.worst_size = 0;
    kind = StepKind::kReopened;
  } else {
    id = ++last_id_;
    Incident& fresh = incidents_[id];
    fresh.id = id;
    fresh.root = root;
    fresh.opened = fresh.since = now;
  }
  open_[root] = id;
  parts_[id] = {};
  Incident& incident = incidents_.at(id);
  if (damping_.begin(incident.penalty, now) && !incident.storm) {
    incident.flapping = true;
    kind = StepKind::kFlapping;
  }
  tell(kind, id, now, steps);
  return id;
}

void Book::attach(const Place& place, std::int64_t id) {
  Standing& standing = standing_.at(place);
  standing.incident = id;
  Incident& incident = incidents_.at(id);
  Parts& parts = parts_.at(id);
  const Rank ranked = rank(place);
  parts.symptoms.insert(ranked);
  if (is_own(standing.symptom, incident)) {
    parts.own.insert(ranked);
    incident.unwatched = false;
  }
  if (incident.storm) {
    join_storm(standing.symptom, parts);
  } else {
    add_thing(incident.things, standing.symptom.component);
  }
  std::erase(incident.left, standing.symptom.component);
}

void Book::detach(const Place& place, std::int64_t id) {
  Parts& parts = parts_.at(id);
  const Rank ranked = rank(place);
  parts.symptoms.erase(ranked);
  parts.own.erase(ranked);
  const auto owner = parts.owners.find(standing_.at(place).symptom.owner);
  if (owner != parts.owners.end() && --owner->second == 0) parts.owners.erase(owner);
}

void Book::take_out(std::map<Place, Standing>::iterator standing) {
  const auto failing = failing_.find(standing->second.symptom.component);
  if (--failing->second == 0) failing_.erase(failing);
  detach(standing->first, standing->second.incident);
  standing_.erase(standing);
}

/// Ends an incident without symptoms, unless it has to be calm first.
void Book::settle(std::int64_t id, TimePoint now, Steps& steps) {
  const Parts& parts = parts_.at(id);
  const Incident& incident = incidents_.at(id);
  if (!parts.symptoms.empty() || parts.unseen_until) return;
  const bool flaps = incident.flapping && !damping_.calm(incident.penalty, now);
  const bool rages = incident.storm && storms_.rages(kind_of_storm(incident.root));
  if (flaps || rages) {
    name_calm(id);
    return;
  }
  end(id, now, steps);
}

void Book::end(std::int64_t id, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  incident.phase = Phase::kResolved;
  incident.resolved = now;
  incident.flapping = false;
  incident.symptoms = 0;
  // At the end the incident has its gravest name, whatever ended last.
  if (const auto& cause = parts_.at(id).cause) {
    incident.code = cause->code;
    incident.names = cause->names;
    incident.summary = cause->summary;
  }
  if (incident.unwatched) name_unwatched(incident);
  open_.erase(incident.root);
  parts_.erase(id);
  ++resolved_;
  remember_last(id);
  tell(StepKind::kResolved, id, now, steps);
  end_merged_into(id, now, steps);
  forget_old();
}

void Book::add_thing(std::vector<std::string>& things, const std::string& thing) {
  if (things.size() == kMostThings) return;
  if (std::ranges::find(things, thing) == things.end()) things.push_back(thing);
}

/// Each thing that failed in the incident opens it again; a merged incident gives way to the one
/// that it was merged into.
void Book::remember_last(std::int64_t id) {
  const Incident& incident = incidents_.at(id);
  const auto remember = [&](const std::string& thing) {
    const auto [last, added] = last_.try_emplace(thing, id);
    const Incident& other = incidents_.at(last->second);
    const bool later = incident.resolved > other.resolved;
    const bool whole = incident.resolved == other.resolved && incident.merged_into == 0;
    if (!added && (later || whole)) last->second = id;
  };
  remember(incident.root);
  for (const std::string& thing : incident.things) remember(thing);
}

void Book::tell(StepKind kind, std::int64_t id, TimePoint now, Steps& steps) {
  Incident& incident = incidents_.at(id);
  incident.changed = now;
  ++incident.revision;
  steps.push_back({kind, incident});
}

void Book::forget_old() {
  for (auto at = incidents_.begin(); resolved_ > policy_.keep_resolved && at != incidents_.end();) {
    if (at->second.phase != Phase::kResolved) {
      ++at;
      continue;
    }
    std::erase_if(last_, [&](const auto& entry) { return entry.second == at->first; });
    forgotten_.push_back(at->first);
    at = incidents_.erase(at);
    --resolved_;
  }
}

}  // namespace wardmote::judge::incident
