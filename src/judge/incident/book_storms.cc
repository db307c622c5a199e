// Storms: many things of one kind that fail at once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"

namespace wardmote::judge::incident {
namespace {

constexpr std::string_view kStorm = "storm:";
/// The number before the restart, from a version that did not store it.
constexpr std::size_t kTold = std::numeric_limits<std::size_t>::max();

/// `clusters`, `guests`, `'tcp' checks`.
std::string things_of(std::string_view kind) {
  if (kind == "cluster" || kind == "guest") return fmt::format("{}s", kind);
  return fmt::format("'{}' checks", kind);
}

}  // namespace

std::string Book::storm_root(std::string_view kind) {
  return std::string(kStorm) + std::string(kind);
}

std::string Book::kind_of_storm(std::string_view root) {
  return std::string(root.substr(kStorm.size()));
}

/// Failures that something above explains are its consequences and no storm, however many they are.
bool Book::is_explained(const std::string& component) const {
  return std::ranges::any_of(graph_.above(component), [&](const std::string& upper) {
    return failing_.contains(upper) || open_.contains(upper);
  });
}

/// The storm that contains something above it.
std::int64_t Book::storm_of_upper(const std::string& component) const {
  const std::vector<std::string> above = graph_.above(component);
  for (const auto& [id, parts] : parts_) {
    if (!incidents_.at(id).storm) continue;
    for (const std::string& upper : above) {
      if (parts.owners.contains(upper)) return id;
    }
  }
  return 0;
}

/// Whether it is the cause of present failures: of another incident, of most of a storm, or of a
/// part of a storm of another kind.
bool Book::explains(const std::string& component, const std::string& kind) const {
  if (!graph_.carries(component)) return false;
  for (const auto& [root, id] : open_) {
    if (!parts_.at(id).symptoms.empty() && graph_.is_above(component, root)) return true;
  }
  for (const auto& [storm, places] : explained_of_storms(component)) {
    const bool most = 2 * places.size() > parts_.at(storm).symptoms.size();
    if (most || kind_of_storm(incidents_.at(storm).root) != kind) return true;
  }
  return false;
}

/// The storm that a new symptom belongs to; 0: none.
std::int64_t Book::in_storm(const Symptom& symptom, TimePoint now, Steps& steps) {
  const std::string kind(graph_.kind(symptom.owner));
  if (kind.empty()) return 0;
  const std::size_t population = graph_.population(kind);
  freeze_.begin(kind, symptom.owner, population, now);
  // A thing with an incident of its own, or one that another incident explains, belongs there.
  if (open_.contains(symptom.component)) return 0;
  if (is_explained(symptom.component)) {
    const auto is_open = [&](const std::string& upper) { return open_.contains(upper); };
    const bool elsewhere = std::ranges::any_of(graph_.above(symptom.component), is_open);
    return elsewhere ? 0 : storm_of_upper(symptom.component);
  }
  if (explains(symptom.component, kind)) return 0;
  if (storms_.crowds(kind, symptom.owner, population, now)) return begin_storm(kind, now, steps);
  return storms_.rages(kind) ? open_at(storm_root(kind)) : 0;
}

/// 0 when too few of the failures are without a cause.
std::int64_t Book::begin_storm(const std::string& kind, TimePoint now, Steps& steps) {
  const std::string root = storm_root(kind);
  std::int64_t id = open_at(root);
  std::vector<std::int64_t> part_of_it;
  std::set<std::string> owners;  // one thing may have an incident for each of its parts
  for (const auto& [other_root, other] : open_) {
    const Incident& incident = incidents_.at(other);
    if (other == id || incident.storm || now - incident.since > policy_.storm.window) continue;
    // A thing with consequences has a cause of its own.
    const Parts& parts = parts_.at(other);
    const bool alone = !parts.symptoms.empty() && parts.symptoms.size() == parts.own.size();
    if (!alone || graph_.kind(other_root) != kind) continue;
    part_of_it.push_back(other);
    owners.insert(standing_.at(std::get<Place>(*parts.symptoms.begin())).symptom.owner);
  }
  const std::size_t threshold = storms_.threshold(graph_.population(kind));
  if (id == 0 && owners.size() < threshold) return 0;
  storms_.start(kind, now);
  if (id == 0) {
    id = open(root, now, steps);
    Incident& storm = incidents_.at(id);
    storm.storm = true;
    storm.flapping = false;
  }
  for (const std::int64_t other : part_of_it) merge(other, id, now, steps);
  return id;
}

std::vector<Book::Place> Book::take_rest(std::int64_t storm, const std::vector<Place>& explained) {
  const std::set<Rank> all = parts_.at(storm).symptoms;
  const std::size_t left = all.size() - explained.size();
  const std::string kind = kind_of_storm(incidents_.at(storm).root);
  const bool most = explained.size() > left;
  if (!most || left > storms_.threshold(graph_.population(kind))) return {};
  std::vector<Place> rest;
  for (const Rank& rank : all) {
    const Place& place = std::get<Place>(rank);
    if (std::ranges::find(explained, place) == explained.end()) rest.push_back(place);
  }
  for (const Place& place : rest) detach(place, storm);
  return rest;
}

/// It continues in the incident that it had before the storm, if there was one.
void Book::set_alone(const Place& place, TimePoint now, Steps& steps) {
  const std::string component = standing_.at(place).symptom.component;
  const auto before = std::ranges::find_if(
      merged_, [&](std::int64_t id) { return incidents_.at(id).root == component; });
  std::int64_t id = open_at(component);
  if (id == 0 && before != merged_.end()) {
    id = *before;
    merged_.erase(before);
    Incident& again = incidents_.at(id);
    again.phase = Phase::kOpen;
    again.merged_into = 0;
    open_[component] = id;
    parts_[id] = {};
    attach(place, id);
    refresh(id);
    tell(StepKind::kReopened, id, now, steps);
    return;
  }
  id = choose(component, now, steps);
  attach(place, id);
  refresh(id);
  for (Step& step : steps) {
    if (step.incident.id != id) continue;
    const std::uint64_t revision = step.incident.revision;
    step.incident = incidents_.at(id);
    step.incident.revision = revision;
  }
}

/// A failure with a known cause makes no storm.
void Book::forget_crowd(std::int64_t id) {
  for (const Rank& rank : parts_.at(id).symptoms) {
    const std::string& owner = standing_.at(std::get<Place>(rank)).symptom.owner;
    storms_.forget(std::string(graph_.kind(owner)), owner);
  }
}

void Book::resume_storm(const Incident& storm, TimePoint now) {
  Parts& parts = parts_.at(storm.id);
  parts.told = storm.told_size == 0 ? kTold : storm.told_size;
  if (parts.awaited > 0) parts.gathers_until = now + policy_.settle;
  storms_.resume(kind_of_storm(storm.root), now);
  freeze_.resume(kind_of_storm(storm.root), now);
}

/// It turned out to have a cause. Acts stay forbidden until the delay is over.
void Book::call_off(Incident& incident) {
  if (!incident.storm) return;
  storms_.call_off(kind_of_storm(incident.root));
  incident.storm = false;
  incident.told_size = incident.worst_size = 0;
}

std::map<std::int64_t, std::vector<Book::Place>> Book::explained_of_storms(
    const std::string& root) const {
  std::map<std::int64_t, std::vector<Place>> explained;
  for (const auto& [id, parts] : parts_) {
    if (!incidents_.at(id).storm) continue;
    for (const Rank& rank : parts.symptoms) {
      const Place& place = std::get<Place>(rank);
      if (graph_.is_above(root, standing_.at(place).symptom.component)) {
        explained[id].push_back(place);
      }
    }
  }
  return explained;
}

void Book::join_storm(const Symptom& symptom, Parts& parts) const {
  std::vector<std::string> above = graph_.above(symptom.component);
  if (parts.owners.empty()) {
    parts.shared = std::move(above);
  } else {
    std::erase_if(parts.shared, [&](const std::string& upper) {
      return std::ranges::find(above, upper) == above.end();
    });
  }
  ++parts.owners[symptom.owner];
}

void Book::name_storm(Incident& incident, Parts& parts) const {
  const std::string kind = kind_of_storm(incident.root);
  const Symptom& first = standing_.at(std::get<Place>(*parts.symptoms.begin())).symptom;
  const std::size_t count = parts.owners.size();
  const std::size_t all = std::max(graph_.population(kind), count);
  const std::string common =
      parts.shared.empty() ? "" : fmt::format("; all of them depend on {}", parts.shared.front());
  const std::string worst =
      count < incident.worst_size ? fmt::format(", {} at the worst", incident.worst_size) : "";
  const auto called = [&](std::string_view verb) {
    return fmt::format("{} of {} {} {} at once{}{}; the first: {}", count, all, things_of(kind),
                       verb, worst, common, first.summary);
  };
  incident.severity = Severity::kCritical;
  incident.code = first.code;
  incident.names = first.names;
  incident.summary = called("fail");
  if (count < incident.worst_size) return;
  incident.worst_size = count;
  parts.cause = {incident.severity, first.code, first.names, called("failed")};
}

/// Each doubling is reported at once, so that a message that waits for more has the present number;
/// the rest is reported when no more failures come.
bool Book::count_storm(std::int64_t id, TimePoint now) {
  Incident& storm = incidents_.at(id);
  if (!storm.storm) return false;
  Parts& parts = parts_.at(id);
  const std::size_t count = parts.owners.size();
  if (parts.told == 0) storm.told_size = parts.told = count;
  if (count == parts.told || count == 0) {
    parts.tell_at.reset();
    return false;
  }
  if (parts.told != kTold && count >= 2 * parts.told) {
    storm.told_size = parts.told = count;
    parts.tell_at.reset();
    return true;
  }
  parts.tell_at = now + policy_.storm.recount;
  return false;
}

/// Whether the number is worth a report: it grew, or fell to less than half.
bool Book::recount_storm(std::int64_t id, TimePoint now) {
  Parts& parts = parts_.at(id);
  if (!parts.tell_at || now < *parts.tell_at) return false;
  parts.tell_at.reset();
  const std::size_t count = parts.owners.size();
  const std::size_t told = parts.told;
  const bool fewer = 2 * count <= told;
  if (told != kTold && fewer && now < parts.gathers_until) {
    // After a restart, not all of them need have been seen again.
    parts.tell_at = parts.gathers_until;
    return false;
  }
  if (told != kTold && count <= told && !fewer) return false;
  incidents_.at(id).told_size = parts.told = count;
  renamed_.insert(id);
  return told != kTold;
}

}  // namespace wardmote::judge::incident
