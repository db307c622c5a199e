#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/dependencies.h"
#include "incidents/held_verdict.h"
#include "incidents/newer_records.h"
#include "incidents/notifier.h"
#include "incidents/record_writer.h"
#include "incidents/seen_good.h"
#include "incidents/told_reasons.h"
#include "incidents/wake_up.h"
#include "judge/change.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/incident.h"
#include "judge/incident/news.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/incidents.h"
#include "serve/notify_control.h"
#include "serve/view.h"
#include "store/clock_pair.h"
#include "store/follower.h"
#include "store/leadership.h"
#include "store/number_mark.h"
#include "store/store.h"

namespace wardmote::incidents {

/// A check, or a cluster by its name, that an earlier life of the agent knew to be reported.
struct KnownFailure {
  std::string name;
  judge::Reason reason;
  bool seen_good = false;
  TimePoint since;
};

/// A thing that is found at run time.
struct DiscoveredThing {
  std::string node;                ///< its name in the graph of incidents
  std::vector<std::string> above;  ///< what it depends on
  bool part = false;               ///< of another one, with incidents of its own
};

/// Turns changes into incidents, reports these in turn, has receivers notified, and writes all of
/// it down where it outlives the agent, if there is a store. Life cycle: open() before the feed
/// tells anything, stop() before destruction; what it borrows outlives it. Thread: the core loop.
class IncidentManager final : public serve::IncidentControl {
 public:
  /// `store` may be null. `node` is how the agent calls itself. `own`: where this agent keeps what
  /// concerns no other, when `store` is shared with others; then only the one that leads makes
  /// incidents, of what all of them see, and the others show them.
  IncidentManager(runtime::Runtime& runtime, store::Store* store, store::Leadership& leadership,
                  const config::Config& config, std::string node, ChangeFeed& feed,
                  NotifierOptions receivers, Depends depends, store::Store* own = nullptr);

  /// Reads what earlier lives wrote down. Checks that were reported stand in the book as before. On
  /// a full disk that cannot even be read it begins anew.
  runtime::Task<Result<void>> open();
  runtime::Task<void> stop();

  /// After open(): what is to be shown as reported until it is seen good.
  [[nodiscard]] const std::vector<KnownFailure>& known_failures() const noexcept {
    return known_failures_;
  }
  /// After open(): optional checks that were good in any life.
  [[nodiscard]] const SeenGood& seen_good() const noexcept { return *seen_good_; }
  /// What is known from before the agent began of the thing for which this check stands, until that
  /// is seen again or over: what incidents say, and that the check was reported.
  [[nodiscard]] std::optional<HeldVerdict> held(std::string_view check) const;
  /// The thing was looked at in full several times in a row, and nothing was to be seen. Of these
  /// codes every look would show it, if it were there.
  void seen_well(std::string_view check, std::span<const judge::Code> shown_at_once);
  /// How many incidents are open, and how grave they are.
  serve::OpenIncidents open_incidents();

  using Counts = std::map<std::string, std::size_t>;  ///< of checks, by their kind
  using Owners = std::optional<std::set<std::string>>;
  /// What another agent says is wrong; all of it, each time. Who leads makes incidents of it, but
  /// for what it watches itself. `checks`: how many it has. `watches`: the owners of what it may
  /// find wrong; what it says no more of another was not seen good.
  void hear_peer(const std::string& node, std::vector<judge::incident::Symptom> symptoms,
                 Counts checks = {}, Owners watches = {});
  /// Every agent that has ever spoken was heard.
  void all_are_heard() noexcept { all_heard_ = true; }
  /// Of this agent, as others are to know it.
  [[nodiscard]] Counts checks_by_kind() const;
  [[nodiscard]] Owners watched() const;
  /// What it said last is not known any more, until it speaks again: nothing is opened or ended by
  /// it.
  void doubt_peer(const std::string& node);
  /// Nothing more is to be expected of that agent.
  void forget_peer(const std::string& node);
  /// Of nodes whose agents are heard no earlier leader's word holds that one is lost.
  void end_lost_nodes(const std::function<bool(const std::string& node)>& is_heard);
  /// The store takes nothing, as far as this agent has tried: what the leader says is not in it.
  void find_store_full(bool full) noexcept { store_full_ = full; }
  /// Why what is shown may be old, or not all, although the store is heard; nothing: it is not.
  void find_cut_off(std::optional<std::string> words) { cut_off_ = std::move(words); }
  /// The number of the history that the store has (store/agent_words.h), as another agent tells.
  void live_in(std::uint64_t history);
  /// An older copy is in the place of the store, and begins the history of this number.
  void set_back(std::uint64_t history);
  /// The labels of another node, as its agent tells them.
  using NodeLabels = std::function<std::map<std::string, std::string>(const std::string& node)>;
  void find_labels(NodeLabels labels_of) { labels_of_ = std::move(labels_of); }
  /// What is wrong here, as other agents are to know it; called whenever that changes.
  void publish(std::function<void(const std::vector<judge::incident::Symptom>&)> published);

  /// Takes a change in; the incident that it belongs to, 0 for none.
  std::int64_t hear(const judge::Change& change);

  /// A check that was reported fails still, at present for this reason. The incident says so, and
  /// what is told of it again; no change is made of it.
  void restate(const std::string& check, const judge::CheckChanged& present);

  /// What a domain found by itself, and no configuration names: all of its things of one kind, in
  /// place of those before. `gone` are those of them that are not watched any more.
  void discovered(judge::ThingKind kind, std::vector<DiscoveredThing> things,
                  std::vector<std::string> gone);
  /// The configuration is another now.
  void reload(const judge::incident::Departures& left);
  /// Who is told, and how, is another now.
  void reload(NotifierOptions receivers);

  /// A check was looked at, with a result of its own.
  void looked(const std::string& check, bool failed) {
    if (!unlooked_.empty()) unlooked_.erase(known_.owner_of(check));
    if (failed && !recalled_.empty()) recalled_.erase(known_.owner_of(check));
  }
  /// A thing that a domain found by itself was found good in this life.
  void judged_good(const std::string& owner) { judged_.insert(owner); }
  /// What is wrong here, as other agents are to know it, with what an earlier life told them of
  /// what this one has not judged yet. What is judged is taken out of `before`.
  std::vector<judge::incident::Symptom> symptoms(std::vector<judge::incident::Symptom>& before);

  [[nodiscard]] const judge::incident::Book& book() const noexcept override { return book_; }
  [[nodiscard]] bool confirmed(const judge::incident::Incident& incident) const override;
  [[nodiscard]] std::vector<judge::incident::Symptom> standing(
      const judge::incident::Incident& incident, std::size_t most) const override;
  Result<void> acknowledge(std::int64_t id, std::string by, std::string comment) override;
  [[nodiscard]] std::optional<std::string> cut_off() const override;
  std::shared_ptr<runtime::HttpHold> written() override { return records_.hold(); }
  /// Why incidents cannot be written down now.
  [[nodiscard]] const std::optional<std::string>& complaint() const noexcept {
    return records_.complaint();
  }
  [[nodiscard]] serve::NotifyControl& notifier() noexcept { return notifier_; }
  /// Of this agent. What is put there in one turn of the loop is one transaction; unless the store
  /// is shared, also with incidents.
  [[nodiscard]] RecordWriter& records() noexcept { return own_ ? *own_ : records_; }

 private:
  using Symptoms = std::vector<judge::incident::Symptom>;

  /// What all agents say is wrong, by the number of the incident to which it belongs.
  using Followed = std::map<std::int64_t, Symptoms>;
  [[nodiscard]] const Followed& followed() const;
  runtime::Task<Result<void>> recall_checks();
  /// Begins to lead: with what those who led before have written.
  runtime::Task<void> take_over();
  runtime::Task<void> write_anew();
  runtime::Task<Result<void>> take_over_incidents();
  void stand_by_records(const store::Follower::Records& records);
  /// Another agent leads, and has written this.
  void mirror(const store::Follower::Records& records);
  void end_what_is_well();
  /// It has left what its agents watch, all of which tell: nobody has seen it good, nor will.
  [[nodiscard]] bool is_left(const std::string& owner) const;
  /// The same of what an earlier leader told of.
  [[nodiscard]] bool is_root_left(const std::string& root) const;
  [[nodiscard]] bool is_said_to_be_well(std::string_view root) const;
  [[nodiscard]] bool is_all_seen(const judge::incident::Incident& incident) const;
  [[nodiscard]] bool fails(std::string_view component) const;
  /// A storm is of a part of all, whoever watches them.
  void count_checks_of_all();
  /// Whether any other agent says it.
  [[nodiscard]] bool is_said(const judge::incident::Symptom& symptom) const;
  std::vector<judge::incident::Incident> decode(const store::Follower::Records& records);
  void note(const judge::incident::Symptom& symptom, bool stands);
  /// This agent watches it, and has not judged it yet in this life.
  [[nodiscard]] bool is_to_be_judged(const std::string& owner) const;
  [[nodiscard]] bool is_to_raise(const judge::incident::Symptom& symptom) const;
  void raise(const judge::incident::Symptom& symptom);
  void raise_again(const judge::incident::Symptom& symptom);
  /// Puts what fails at other agents below what it depends on, their checks below their nodes.
  /// Whether any was not there.
  bool place(const std::string& node, const Symptoms& symptoms);
  [[nodiscard]] bool is_shared() const noexcept { return own_.has_value(); }
  /// Another agent makes the incidents.
  [[nodiscard]] bool follows() const noexcept { return is_shared() && !records_.leads(); }
  /// On whose node the thing is: as its name says, or the only agent that tells of it; else ours.
  [[nodiscard]] std::string node_of(const judge::incident::Incident& incident) const;
  [[nodiscard]] judge::notify::Labels labels_for(const judge::incident::Incident& incident) const;
  /// This agent watches the thing itself.
  [[nodiscard]] bool is_ours(const judge::incident::Symptom& symptom) const {
    return ours_.contains(symptom.owner);
  }
  [[nodiscard]] std::string graph_name() const { return is_shared() ? node_ : std::string(); }
  [[nodiscard]] std::vector<judge::notify::NoticePart> parts_of(
      const judge::incident::Incident& storm) const;
  void recall_check(const std::string& key, const std::string& record,
                    const store::ClockPair& clock);
  [[nodiscard]] judge::incident::Dependencies all_dependencies() const;
  void write_down(const judge::Change& change);
  void forget_check(std::string_view name);
  void forget_gone();
  void reshape(judge::incident::Departures left);
  /// This agent watches them no more. What another one watches is not gone: it waits for what that
  /// one says.
  void leave_to_others(judge::incident::Departures& left);
  /// By raise() or raise_again().
  void raise_of_others(void (IncidentManager::*how)(const judge::incident::Symptom&));
  /// After `known_` is another.
  void note_ours();
  [[nodiscard]] bool is_there(const std::string& check) const;
  void take(const judge::incident::Steps& steps);
  void mark_numbers();
  void schedule();
  void consider_open();
  void restate_finding(const judge::Change& change);
  /// What is said of it is this from now on.
  void tell_words(const judge::incident::Symptom& symptom, bool stands);
  void end_blindness(const judge::Change& change, const judge::incident::News& news);
  /// The incidents of a thing that outlived the agent, and were not seen again.
  [[nodiscard]] std::vector<std::int64_t> awaited_of(std::string_view check) const;
  void see_again(const judge::Change& change);

  runtime::Runtime& runtime_;
  const config::Config& config_;
  std::string node_;
  ChangeFeed& feed_;
  const Depends depends_;
  std::map<judge::ThingKind, std::vector<DiscoveredThing>> discovered_;
  judge::incident::Dependencies known_;
  judge::incident::Book book_;
  std::vector<KnownFailure> known_failures_;
  /// Why checks of things were reported that nobody has seen that bad since, nor well.
  std::map<std::string, judge::Reason, std::less<>> unseen_;
  TimePoint unseen_until_;
  std::set<std::string> recalled_;  // owners of what no look of this life has found wrong yet
  /// In this life: checks, and owners of what was found good.
  std::set<std::string, std::less<>> judged_;
  std::set<std::string> unlooked_;  // owners of checks that were recalled and not looked at since
  std::set<std::string> written_checks_;          // that have a record
  std::set<std::string, std::less<>> uncounted_;  // recalled ones that count no more
  std::set<std::string, std::less<>> well_;  // checks of this agent that were good when last seen
  /// Those of them when it took the lead: what another has left behind is no better known.
  std::set<std::string, std::less<>> well_before_;
  store::NumberMark numbers_;
  bool numbers_known_ = false;  // what an earlier life wrote of them was read
  std::optional<serve::OpenIncidents> open_incidents_;  // counted when somebody asks
  store::SoleLeadership alone_;
  RecordWriter records_;
  std::optional<RecordWriter> own_;  ///< there when the store is shared
  std::optional<SeenGood> seen_good_;
  ToldReasons reasons_{std::chrono::minutes(5)};
  /// The words of findings, which differ in their numbers.
  ToldReasons words_{std::chrono::seconds(10)};
  Symptoms here_;                 ///< what is wrong, as far as this agent sees it
  std::set<std::string> ours_;    ///< owners of what this agent watches by its configuration
  std::set<std::string> placed_;  ///< in the graph, where other agents say that they are
  bool all_heard_ = false;
  std::map<std::string, Symptoms> peers_;
  std::map<std::string, Counts> peers_checks_;
  std::map<std::string, Owners> peers_watch_;
  mutable std::optional<Followed> followed_;  // made when somebody asks
  std::set<std::string> doubted_;
  NodeLabels labels_of_;
  std::function<void(const Symptoms&)> published_ = [](const Symptoms&) {};
  bool store_full_ = false;
  std::optional<std::string> cut_off_;
  std::uint64_t term_ = 0;  ///< counts the times that leadership was lost or won
  std::optional<store::Follower> follower_;
  std::optional<store::Follower> notifications_;
  NewerRecords newer_;
  std::uint64_t history_ = 0;
  Notifier notifier_;
  WakeUp wake_up_;
  runtime::TaskGroup tasks_;
};

/// What an incident is routed and silenced by: `code`, `severity`, `root`, `scope` (what kind of
/// thing the root is), `subject` (its name), `cluster` where it belongs to one, `uuid` of a guest,
/// `node`, and the node's own labels.
judge::notify::Labels incident_labels(const judge::incident::Incident& incident,
                                      const std::map<std::string, std::string>& of_node,
                                      const std::string& node);

}  // namespace wardmote::incidents
