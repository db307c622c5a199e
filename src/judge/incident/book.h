#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "judge/incident/damping.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/incident/storm.h"

namespace wardmote::judge::incident {

struct BookPolicy {
  DampingPolicy damping;
  StormPolicy storm;
  /// A thing that fails again within this time has the same incident.
  Duration reopen_within = std::chrono::minutes(10);
  /// After a restart, how long an incident keeps its name and waits for its problem to be seen
  /// again.
  Duration settle = std::chrono::minutes(2);
  std::size_t keep_resolved = 500;
};

/// Owners whose symptoms are no longer watched as before.
struct Departures {
  std::vector<std::string> gone;  ///< not watched any more: whether they are still wrong is unknown
  /// Something else is watched under their names: a problem stays until its owner is good, or the
  /// problem is seen again.
  std::vector<std::string> replaced;
};

/// The incidents: what is wrong, grouped by cause. A failure belongs to the highest thing above it
/// that fails too, whichever was seen first. An incident that turns out to be part of another is
/// merged into it, and ends when nothing of it fails any more. The name of an incident is that of
/// the problem of its root. Pure: time is a parameter, and changes that others must know of are
/// returned as steps.
class Book {
 public:
  explicit Book(Graph graph, BookPolicy policy = {});

  /// After recall(): adds a symptom of an earlier run of the agent to the incident that it belonged
  /// to.
  Steps raise_again(const Symptom& symptom, TimePoint now);
  /// A symptom began, or it lasts and has changed.
  Steps raise(const Symptom& symptom, TimePoint now);
  /// A symptom ended. Does nothing if it is unknown.
  Steps clear(const Symptom& symptom, TimePoint now);
  /// Does nothing when there is no such open incident.
  Steps acknowledge(std::int64_t id, std::string by, std::string comment, TimePoint now);
  /// The set of watched things has changed.
  Steps reshape(Graph graph, const Departures& left, TimePoint now);
  /// Changes caused by time alone. Call it at next_change().
  Steps pass(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_change() const;

  /// Restores what an earlier run stored; call it first. Its incidents wait for their problems to
  /// be seen again.
  void recall(const std::vector<Incident>& incidents, TimePoint now);
  /// After recall(): what begins from now on gets a higher number.
  void number_after(std::int64_t last) { last_id_ = std::max(last_id_, last); }
  /// The highest number that was given.
  [[nodiscard]] std::int64_t last_number() const noexcept { return last_id_; }

  /// By number; the open incidents, and the newest resolved ones.
  [[nodiscard]] const std::map<std::int64_t, Incident>& incidents() const noexcept {
    return incidents_;
  }
  /// Numbers of the resolved incidents that were forgotten since the last call.
  std::vector<std::int64_t> take_forgotten() { return std::exchange(forgotten_, {}); }
  /// Numbers of open incidents whose name has changed since the last call, also without a step:
  /// what is stored must be what is shown.
  std::set<std::int64_t> take_renamed() { return std::exchange(renamed_, {}); }
  /// Whether an incident is of it, or was when the agent was restarted or began to lead.
  [[nodiscard]] bool is_known(const Symptom& symptom) const {
    return incident_of(symptom) != 0 || home_of(symptom) != 0;
  }
  /// The incident that a present symptom belongs to; 0 when it is unknown.
  [[nodiscard]] std::int64_t incident_of(const Symptom& symptom) const;
  /// The present symptoms of an incident, at most `most`.
  [[nodiscard]] std::vector<Symptom> symptoms_of(std::int64_t id, std::size_t most) const;
  /// Whether it was recalled and waits for its problem to be seen again.
  [[nodiscard]] bool awaited(std::int64_t id) const;
  /// After recall(): a thing of that kind failed when the earlier run ended, and is not watched any
  /// more.
  Steps leave(const std::string& component, std::string_view kind, TimePoint now);
  /// The problem that an incident waits for is known to be gone: it stops waiting.
  Steps give_up(std::int64_t id, TimePoint now);
  /// Whether more of the same may still fail, so that the cause lies elsewhere.
  [[nodiscard]] bool rages(const Incident& storm) const {
    return storm.storm && storms_.rages(kind_of_storm(storm.root));
  }
  /// True while a storm forbids all acts.
  [[nodiscard]] bool acts_frozen() const noexcept { return storms_.any() || freeze_.any(); }

 private:
  /// Identifies a symptom: its owner, its code, and a number.
  using Place = std::tuple<std::string, Code, std::uint64_t>;
  struct Standing {
    Symptom symptom;
    std::int64_t incident = 0;
  };
  /// The gravest first: by severity, then in the order of the catalogue, then the one that began
  /// first.
  using Rank = std::tuple<int, Code, TimePoint, Place>;
  /// The name of an incident.
  struct Title {
    Severity severity = Severity::kInfo;
    Code code{};
    std::vector<std::string> names;
    std::string summary;
  };
  /// The contents of an incident.
  struct Parts {
    std::set<Rank> symptoms;
    std::set<Rank> own;  ///< the symptoms of the root itself
    /// The gravest problem of the root so far, or the largest number of things in a storm.
    std::optional<Title> cause;
    /// recalled, and its root was not seen failing again yet
    std::optional<TimePoint> unseen_until;
    std::size_t awaited = 0;  ///< recalled: the number of symptoms then
    /// recalled: until then it is as grave as it was, unless all of it was seen again
    std::optional<TimePoint> grave_until;
    // Of storms only:
    std::map<std::string, std::size_t> owners;  ///< things that fail, with their symptoms
    std::vector<std::string> shared;            ///< the thing that all of them depend on
    std::size_t told = 0;                       ///< number of owners at the last step
    std::optional<TimePoint> tell_at;
    TimePoint gathers_until{};  ///< recalled: things that failed before may still be seen again
  };

  [[nodiscard]] std::map<Place, Standing>::iterator find(const Symptom& symptom);
  [[nodiscard]] Rank rank(const Place& place) const;
  [[nodiscard]] std::string root_of(const std::string& component) const;
  [[nodiscard]] std::int64_t open_at(const std::string& root) const;
  std::int64_t choose(const std::string& component, TimePoint now, Steps& steps);
  std::int64_t open(const std::string& root, TimePoint now, Steps& steps);
  std::int64_t rise(const std::string& root, TimePoint now, Steps& steps);
  /// Gives `id` a new root.
  void set_root(std::int64_t id, const std::string& root, TimePoint now, Steps& steps);
  /// The parts of storms that a failing `root` explains.
  [[nodiscard]] std::map<std::int64_t, std::vector<Place>> explained_of_storms(
      const std::string& root) const;
  [[nodiscard]] bool is_explained(const std::string& component) const;
  [[nodiscard]] std::int64_t storm_of_upper(const std::string& component) const;
  [[nodiscard]] bool explains(const std::string& component, const std::string& kind) const;
  [[nodiscard]] std::int64_t home_of(const Symptom& symptom) const;
  /// The rest of a storm when most of it is explained and the rest alone is no storm.
  std::vector<Place> take_rest(std::int64_t storm, const std::vector<Place>& explained);
  void set_alone(const Place& place, TimePoint now, Steps& steps);
  void forget_crowd(std::int64_t id);
  void put(const Symptom& symptom, std::int64_t id, const Place& place, TimePoint now,
           Steps& steps);
  static bool is_own(const Symptom& symptom, const Incident& incident);
  static std::string kind_of_storm(std::string_view root);
  static std::string storm_root(std::string_view kind);
  std::int64_t in_storm(const Symptom& symptom, TimePoint now, Steps& steps);
  void resume_storm(const Incident& storm, TimePoint now);
  void call_off(Incident& incident);
  void join_storm(const Symptom& symptom, Parts& parts) const;
  std::int64_t begin_storm(const std::string& kind, TimePoint now, Steps& steps);
  void merge(std::int64_t from, std::int64_t into, TimePoint now, Steps& steps);
  [[nodiscard]] bool fails(const std::string& root) const;
  [[nodiscard]] std::int64_t where_fails(const std::string& root) const;
  /// Moves what was merged into `from`, and is at or below `root` (if given), to `into`.
  void hand_over(std::int64_t from, std::int64_t into, const std::string& root = "");
  void name_merged(std::int64_t id);
  static void name_unwatched(Incident& incident);
  /// Merged incidents of which nothing fails since `component` is well.
  void end_merged_at(const std::string& component, TimePoint now, Steps& steps);
  void end_merged_into(std::int64_t id, TimePoint now, Steps& steps);
  void end_stray(TimePoint now, Steps& steps);
  void end_merged(std::int64_t id, TimePoint now, Steps& steps);
  void attach(const Place& place, std::int64_t id);
  void detach(const Place& place, std::int64_t id);
  /// Updates severity and cause; returns whether they changed.
  bool refresh(std::int64_t id);
  void name_storm(Incident& incident, Parts& parts) const;
  /// An incident that stays open although nothing of it fails now.
  void name_calm(std::int64_t id);
  /// Whether the number of failures has changed so much that others should know.
  bool count_storm(std::int64_t id, TimePoint now);
  bool recount_storm(std::int64_t id, TimePoint now);
  [[nodiscard]] bool sees_again(const Symptom& symptom, std::int64_t id) const;
  void settle(std::int64_t id, TimePoint now, Steps& steps);
  void end_unseen(const Symptom& symptom, TimePoint now, Steps& steps);
  void end(std::int64_t id, TimePoint now, Steps& steps);
  [[nodiscard]] bool leaves(const std::string& root, const std::vector<std::string>& gone) const;
  void withdraw(const std::vector<std::string>& gone, TimePoint now, Steps& steps);
  void disown(std::int64_t id, TimePoint now, Steps& steps);
  void await_again(const std::vector<std::string>& replaced, TimePoint now);
  static void add_thing(std::vector<std::string>& things, const std::string& thing);
  void remember_last(std::int64_t id);
  void take_out(std::map<Place, Standing>::iterator standing);
  void tell(StepKind kind, std::int64_t id, TimePoint now, Steps& steps);
  void forget_old();

  Graph graph_;
  BookPolicy policy_;
  Damping damping_;
  StormGuard storms_;  ///< storms of failures without a known cause: these are incidents
  StormGuard freeze_;  ///< storms of all failures: they forbid acts
  std::map<std::int64_t, Incident> incidents_;
  std::map<std::int64_t, Parts> parts_;       ///< severities of the open incidents
  std::set<std::int64_t> merged_;             ///< incidents that were merged into others
  std::map<std::string, std::int64_t> open_;  ///< open incidents by root
  /// the last resolved incident in which a thing failed
  std::map<std::string, std::int64_t> last_;
  std::map<std::string, std::size_t> failing_;  ///< present symptoms by component
  std::map<Place, Standing> standing_;
  std::uint64_t next_place_ = 0;
  std::int64_t last_id_ = 0;
  std::size_t resolved_ = 0;
  std::vector<std::int64_t> forgotten_;
  std::set<std::int64_t> renamed_;
};

}  // namespace wardmote::judge::incident
