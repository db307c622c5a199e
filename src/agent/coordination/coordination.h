#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "incidents/incident_manager.h"
#include "judge/incident/incident.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/agents.h"
#include "store/agent_record.h"
#include "store/agent_words.h"
#include "store/beat.h"
#include "store/election.h"
#include "store/follower.h"
#include "store/leadership.h"
#include "store/presence.h"
#include "store/shared_note.h"
#include "store/store.h"

namespace wardmote::agent {

/// This agent among those that share a store with it: the election, what it says of itself, and
/// what the others say. Life cycle: start() after the agent, resign() after the agent has stopped,
/// and then destruction; what it borrows outlives it. Thread: the core loop.
class Coordination final : public serve::AgentsView {
 public:
  struct Self {
    std::string node;
    std::map<std::string, std::string> labels;
    std::string boot;  ///< which start of the machine it is
  };

  /// `ttl`: of the leader's lease, and of a presence.
  Coordination(runtime::Runtime& runtime, store::Store& store, Duration ttl, Self self);

  [[nodiscard]] store::Leadership& leadership() noexcept { return election_; }

  /// Stands in the election, and exchanges with the others what is wrong where, and the notes,
  /// which outlive it.
  /// `doubt` is called with the reason when what the store had before is lost.
  void start(incidents::IncidentManager& incidents, std::vector<store::SharedNote*> notes,
             std::function<void(std::string)> doubt);
  /// Leaves: the next agent leads at once.
  runtime::Task<void> resign();

  /// That the store was not heard for some time, and nothing is known of the others since; or that
  /// another agent has the same name.
  [[nodiscard]] std::optional<std::string> isolation() const;

  // serve::AgentsView
  [[nodiscard]] std::vector<serve::AgentRow> agents() const override;
  [[nodiscard]] std::optional<Duration> age() const override;
  [[nodiscard]] serve::ElectionState election() const override;

 private:
  struct Peer {
    std::optional<store::AgentRegistration> registration;
    bool present = false;
    TimePoint changed;                 ///< when it came or went, as far as this agent has seen
    std::string registered;            ///< as it is stored
    bool unknown_to_copy = false;      ///< it is no older copy's to say that it is gone
    std::optional<TimePoint> missing;  ///< since when none of its records is there
    std::optional<TimePoint> twins;    ///< when two agents last wrote under this name
  };

  void hear(const store::Follower::Records& records);
  static std::optional<store::AgentRegistration> registration_of(const std::string& node,
                                                                 const Peer& peer);
  void tell_notes();
  void hear_notes(const store::Follower::Records& records);
  void hear_words(const std::map<std::string, store::AgentWords::Stored>& stored);
  /// Says what is wrong here.
  void publish();
  /// Adds those of whom nothing is there any more, as they were.
  void keep_missing(std::map<std::string, Peer>& seen);
  /// Whose records were taken away is no agent any more; but one that lives writes its own again.
  void forget_missing();
  /// Writes what this agent says of itself again, if it is not in the store.
  void stand_by_own_records();
  [[nodiscard]] bool has_twin() const noexcept;
  /// That no agent leads, or that none hears this one, in words; nothing: they do, or will soon.
  [[nodiscard]] std::optional<std::string> cut_off() const;
  [[nodiscard]] std::string unheard_agent() const;
  /// Tells of the agents that are away, while this one leads.
  runtime::Task<void> watch_nodes();
  [[nodiscard]] std::vector<judge::incident::Symptom> lost_nodes() const;

  runtime::Runtime& runtime_;
  const Self self_;
  const WallTime since_;
  const TimePoint begun_;
  store::Store& store_;
  store::Election election_;
  store::Beat beat_;
  store::Presence presence_;
  store::Follower follower_;
  const std::string registered_;  ///< of this agent, as it is stored
  std::map<std::string, Peer> peers_;
  incidents::IncidentManager* incidents_ = nullptr;
  std::vector<store::SharedNote*> notes_;
  std::map<std::string, std::string> told_;  ///< notes of this agent by their keys
  int looks_without_ = 0;             ///< in a row, at a store that lacks what this agent wrote
  std::optional<TimePoint> rewrote_;  ///< when it wrote that again
  std::optional<TimePoint> full_;     ///< when the store was full last
  store::AgentWords words_;
  /// What an earlier life of this agent said, as far as it was not judged yet; nothing: it was not
  /// read yet.
  std::optional<std::vector<judge::incident::Symptom>> said_before_;
  std::vector<judge::incident::Symptom> published_;
  std::uint64_t published_in_ = 0;  ///< the history in which that was said
  TimePoint written_again_;         ///< the store was set back; who lives says so until then
  TimePoint led_;                   ///< when some agent was known to lead
  TimePoint reached_;               ///< when nothing kept this agent's records from the store
  TimePoint wrote_;                 ///< when this one wrote last because it leads
  std::optional<TimePoint> twin_;   ///< when another agent last wrote under its name
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
