#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/incident/damping.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/incident/storm.h"

namespace wardmote::judge::incident {

struct BookPolicy {
  DampingPolicy damping;
  StormPolicy storm;
  /// The same thing failing again within this time is the same incident.
  Duration reopen_within = std::chrono::minutes(10);
  /// After a restart, how long an incident waits for what was wrong to be seen again.
  Duration settle = std::chrono::minutes(2);
  std::size_t keep_resolved = 500;
};

/// The incidents: what is wrong, grouped by cause. A thing's failure belongs to the highest thing
/// above it that fails too, whichever was seen first; an incident that turns out to be part of
/// another is merged into it. Pure: time is a parameter, and what must be told comes back as steps.
class Book {
 public:
  explicit Book(Graph graph, BookPolicy policy = {});

  /// A symptom began, or stands and is different now.
  Steps raise(const Symptom& symptom, TimePoint now);
  /// It is over. Nothing if it was not known.
  Steps clear(const Symptom& symptom, TimePoint now);
  /// Nothing when there is no such open incident.
  Steps acknowledge(std::int64_t id, std::string by, std::string comment, TimePoint now);
  /// Other things are watched from now on; the symptoms of the `gone` owners are over.
  Steps reshape(Graph graph, const std::vector<std::string>& gone, TimePoint now);
  /// What happens by time alone. Call it at next_change().
  Steps pass(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_change() const;

  /// What an earlier life knew, before anything else; its incidents wait to be seen again.
  void recall(const std::vector<Incident>& incidents, TimePoint now);

  /// By number; the open ones, and the newest of the resolved.
  [[nodiscard]] const std::map<std::int64_t, Incident>& incidents() const noexcept {
    return incidents_;
  }
  /// Numbers of the resolved ones that it has forgotten since it was asked last.
  std::vector<std::int64_t> take_forgotten() { return std::exchange(forgotten_, {}); }
  /// The incident that a standing symptom belongs to; 0 when it is not known.
  [[nodiscard]] std::int64_t incident_of(const Symptom& symptom) const;
  /// What stands of an incident, at most `most`.
  [[nodiscard]] std::vector<Symptom> symptoms_of(std::int64_t id, std::size_t most) const;
  /// Nothing may act while a storm rages.
  [[nodiscard]] bool acts_frozen() const noexcept { return storms_.any(); }

 private:
  /// Where a symptom is: its owner, its code, and a number.
  using Place = std::tuple<std::string, Code, std::uint64_t>;
  struct Standing {
    Symptom symptom;
    std::int64_t incident = 0;
  };
  /// The gravest first, then the one that began first.
  using Rank = std::tuple<int, TimePoint, Place>;
  /// What an incident is made of.
  struct Parts {
    std::set<Rank> symptoms;
    std::optional<TimePoint> unseen_until;  ///< recalled, and not seen again yet
  };

  [[nodiscard]] std::map<Place, Standing>::iterator find(const Symptom& symptom);
  [[nodiscard]] Rank rank(const Place& place) const;
  [[nodiscard]] std::string root_of(const std::string& component) const;
  [[nodiscard]] std::int64_t open_at(const std::string& root) const;
  std::int64_t choose(const std::string& component, TimePoint now, Steps& steps);
  std::int64_t open(const std::string& root, TimePoint now, Steps& steps);
  std::int64_t rise(const std::string& root, TimePoint now, Steps& steps);
  std::int64_t begin_storm(const std::string& kind, TimePoint now, Steps& steps);
  void merge(std::int64_t from, std::int64_t into, TimePoint now, Steps& steps);
  void attach(const Place& place, std::int64_t id);
  void detach(const Place& place, std::int64_t id);
  /// Brings severity and cause up to date; whether they changed.
  bool refresh(std::int64_t id);
  void settle(std::int64_t id, TimePoint now, Steps& steps);
  void end_unseen(const Symptom& symptom, TimePoint now, Steps& steps);
  void end(std::int64_t id, StepKind how, TimePoint now, Steps& steps);
  void tell(StepKind kind, std::int64_t id, TimePoint now, Steps& steps);
  void forget_old();

  Graph graph_;
  BookPolicy policy_;
  Damping damping_;
  StormGuard storms_;
  std::map<std::int64_t, Incident> incidents_;
  std::map<std::int64_t, Parts> parts_;         ///< of the open ones
  std::map<std::string, std::int64_t> open_;    ///< by root
  std::map<std::string, std::int64_t> last_;    ///< by root, the last that was resolved
  std::map<std::string, std::size_t> failing_;  ///< by component, symptoms that stand
  std::map<Place, Standing> standing_;
  std::uint64_t next_place_ = 0;
  std::int64_t last_id_ = 0;
  std::size_t resolved_ = 0;
  std::vector<std::int64_t> forgotten_;
};

}  // namespace wardmote::judge::incident
