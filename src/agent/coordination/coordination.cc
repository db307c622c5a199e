#include "agent/coordination/coordination.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "base/version.h"
#include "incidents/dependencies.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/agents.h"
#include "store/agent_record.h"
#include "store/clock_pair.h"
#include "store/election.h"
#include "store/follower.h"
#include "store/shared_note.h"
#include "store/store.h"

namespace wardmote::agent {

using judge::incident::Symptom;
using runtime::Task;
using store::AgentRecordKind;

namespace {

/// The name under which the leader itself tells of nodes: no node has it.
constexpr std::string_view kNobody;
const std::string kNothing;
/// As `wardmote status` counts it.
constexpr Duration kIsolatedAfter = std::chrono::seconds(10);
constexpr Duration kLookEvery = std::chrono::seconds(1);
/// Longer than a living agent needs to write its records again. After the store was set back what
/// others say in it may be their word of before until then.
constexpr Duration kWrittenAgain = std::chrono::seconds(10);
/// What was just written comes back within these looks.
constexpr int kLooksWithout = 3;
/// Two agents of one name write no more often than this.
constexpr int kLooksOfATwin = 20;
constexpr Duration kTwinIsMeant = std::chrono::seconds(60);
/// Of others: longer than a few agents of one name need to write one after the other.
constexpr Duration kTwinsAreMeant = std::chrono::minutes(3);
constexpr Duration kSpeaksAgain = std::chrono::minutes(1);
/// Whoever leads must know that the store takes nothing.
constexpr Duration kWriteEvery = std::chrono::seconds(10);

/// An agent that began later was there already: whoever writes now is another one.
bool wrote_again(const std::optional<store::AgentRegistration>& before,
                 const std::optional<store::AgentRegistration>& now) {
  return before && now && now->since < before->since;
}

}  // namespace

Coordination::Coordination(runtime::Runtime& runtime, store::Store& store, Duration ttl, Self self)
    : runtime_(runtime),
      self_(std::move(self)),
      since_(runtime.wall_now()),
      begun_(runtime.now()),
      store_(store),
      election_(runtime, store, {.candidate = self_.node, .ttl = ttl}),
      beat_(runtime, store, &election_, ttl),
      presence_(runtime, store, store::presence_key(self_.node), self_.boot, ttl),
      follower_(runtime, store, std::string(store::kAgentPrefix),
                [this](const store::Follower::Records& records) { hear(records); }),
      registered_(store::encode(store::AgentRegistration{
          self_.node, self_.labels, std::string(kVersion), self_.boot, since_})),
      led_(begun_),
      reached_(begun_),
      tasks_(runtime.executor()) {
  presence_.put(store::registration_key(self_.node), registered_);
}

void Coordination::start(incidents::IncidentManager& incidents,
                         std::vector<store::SharedNote*> notes,
                         std::function<void(std::string)> doubt) {
  incidents_ = &incidents;
  store_.seen().when_set_back([this, doubt = std::move(doubt)](const std::string& what) {
    written_again_ = runtime_.now() + kWrittenAgain;
    words_.set_back();
    incidents_->set_back(words_.history());
    hear_words({});
    doubt(what);
  });
  incidents.publish([this](const std::vector<Symptom>&) { publish(); });
  incidents.find_labels([this](const std::string& node) {
    const auto peer = peers_.find(node);
    const bool known = peer != peers_.end() && peer->second.registration;
    return known ? peer->second.registration->labels : std::map<std::string, std::string>();
  });
  notes_ = std::move(notes);
  tell_notes();
  presence_.start();
  follower_.start();
  election_.start();
  beat_.start();
  tasks_.spawn("watch nodes", watch_nodes());
}

Task<void> Coordination::resign() {
  co_await tasks_.stop();
  co_await follower_.stop();
  co_await beat_.stop();
  co_await election_.stop();
  co_await presence_.stop();
}

void Coordination::hear(const store::Follower::Records& records) {
  std::map<std::string, Peer> seen;
  std::map<std::string, store::AgentWords::Stored> said;
  for (const auto& [key, value] : records) {
    const auto what = store::parse_agent_key(key);
    if (!what) continue;
    const std::string node(what->node);
    Peer& peer = seen[node];
    if (what->kind == AgentRecordKind::kPresence) peer.present = said[node].present = true;
    if (what->kind == AgentRecordKind::kSymptoms) said[node].text = value;
    if (what->kind == AgentRecordKind::kRegistration) peer.registered = value;
  }
  for (auto& [node, peer] : seen) {
    const auto before = peers_.find(node);
    const Peer known = before == peers_.end() ? Peer() : before->second;
    const bool new_here = before == peers_.end();
    peer.changed = !new_here && known.present == peer.present ? known.changed : runtime_.now();
    peer.registration =
        known.registered == peer.registered ? known.registration : registration_of(node, peer);
    peer.twins = wrote_again(known.registration, peer.registration) ? runtime_.now() : known.twins;
  }
  keep_missing(seen);
  peers_ = std::move(seen);
  hear_words(said);
  incidents_->all_are_heard();
  if (!said_before_) {
    said_before_ = words_.said(self_.node);
    publish();
  }
  hear_notes(records);
}

void Coordination::publish() {
  // What it said before it was restarted stands until it knows better.
  if (!said_before_) return;
  published_in_ = words_.history();
  published_ = incidents_->symptoms(*said_before_);
  const store::AgentWord word{published_, incidents_->checks_by_kind(), incidents_->watched(),
                              published_in_};
  presence_.put(store::symptoms_key(self_.node),
                store::encode(word, {runtime_.now(), runtime_.wall_now()}));
}

void Coordination::hear_words(const std::map<std::string, store::AgentWords::Stored>& stored) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  for (const std::string& node : words_.take(stored, clock)) {
    if (node == self_.node) continue;
    incidents_->hear_peer(node, words_.said(node), words_.checks(node), words_.watches(node));
  }
  for (const auto& [node, peer] : peers_) {
    if (node != self_.node && words_.is_doubted(node)) incidents_->doubt_peer(node);
  }
  if (words_.history() == published_in_) return;
  incidents_->live_in(words_.history());
  publish();
}

void Coordination::tell_notes() {
  for (const store::SharedNote* const note : notes_) {
    std::string key = store::note_key(self_.node, note->name());
    std::string text = note->told();
    if (std::exchange(told_[key], text) == text) continue;
    presence_.put_view(std::move(key), std::move(text));
  }
}

void Coordination::hear_notes(const store::Follower::Records& records) {
  for (store::SharedNote* const note : notes_) {
    for (const auto& [node, peer] : peers_) {
      if (node == self_.node) continue;
      const auto record = records.find(store::note_key(node, note->name()));
      const std::string& text = record == records.end() ? kNothing : record->second;
      if (peer.twins && runtime_.now() - *peer.twins < kTwinsAreMeant) {
        note->doubt(node, text, runtime_.now());
      } else if (peer.present) {
        note->hear(node, text, runtime_.now());
      } else {
        note->lose(node, text, runtime_.now());
      }
    }
  }
}

void Coordination::keep_missing(std::map<std::string, Peer>& seen) {
  for (auto& [node, peer] : peers_) {
    if (seen.contains(node)) continue;
    if (peer.present) peer.changed = runtime_.now();
    peer.present = false;
    // What an older copy of the store does not know yet nobody has removed.
    peer.unknown_to_copy |= runtime_.now() < written_again_;
    if (!peer.missing && !peer.unknown_to_copy) peer.missing = runtime_.now();
    seen[node] = std::move(peer);
  }
}

void Coordination::forget_missing() {
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    const bool gone =
        peer->second.missing && runtime_.now() - *peer->second.missing >= kWrittenAgain;
    if (gone) incidents_->forget_peer(peer->first);
    if (gone) words_.forget(peer->first);
    peer = gone ? peers_.erase(peer) : std::next(peer);
  }
}

bool Coordination::has_twin() const noexcept {
  return twin_ && runtime_.now() - *twin_ < kTwinIsMeant;
}

std::string Coordination::unheard_agent() const {
  if (has_twin()) return "another agent of this name";
  // One that has begun cannot even say that it is there, and needs a while when there is room
  // again.
  const bool full = full_ && runtime_.now() - *full_ < kSpeaksAgain;
  return full ? "an agent from which the store, which is full, takes nothing" : "";
}

void Coordination::stand_by_own_records() {
  const store::Follower::Records& stored = follower_.records();
  // What is there of an earlier life while nothing can be written is no word of another agent.
  const std::string own = store::registration_key(self_.node);
  if (!follower_.confirmed() || presence_.owes(own) || presence_.stays(stored)) {
    looks_without_ = 0;
    return;
  }
  const TimePoint now = runtime_.now();
  const bool known = has_twin();
  if (++looks_without_ < (known ? kLooksOfATwin : kLooksWithout)) return;
  looks_without_ = 0;
  const auto registered = stored.find(own);
  const bool by_another = registered != stored.end() && registered->second != registered_;
  if (by_another && rewrote_ && now - *rewrote_ < kTwinIsMeant) {
    if (!known) log(LogLevel::kError, "name_taken", {{"node", escape_control(self_.node)}});
    twin_ = now;
  }
  rewrote_ = now;
  presence_.write_again(stored);
}

std::optional<store::AgentRegistration> Coordination::registration_of(const std::string& node,
                                                                      const Peer& peer) {
  if (peer.registered.empty()) return std::nullopt;
  auto registration = store::decode_registration(peer.registered);
  if (registration) return *std::move(registration);
  log(LogLevel::kError, "record_not_understood",
      {{"key", escape_control(store::registration_key(node))}});
  return std::nullopt;
}

Task<void> Coordination::watch_nodes() {
  std::vector<Symptom> told;
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kLookEvery);
    forget_missing();
    if (said_before_ && incidents_->symptoms(*said_before_) != published_) publish();
    tell_notes();
    stand_by_own_records();
    // That two agents have one name ends without a record that changes.
    if (std::ranges::any_of(peers_, [](const auto& peer) { return peer.second.twins.has_value(); }))
      hear_notes(follower_.records());
    if (presence_.full()) full_ = runtime_.now();
    incidents_->find_store_full(presence_.full());
    if (election_.is_led()) led_ = runtime_.now();
    if (!presence_.complaint() || presence_.full()) reached_ = runtime_.now();
    incidents_->find_cut_off(cut_off());
    const std::string unheard = unheard_agent();
    for (store::SharedNote* const note : notes_) note->set_unheard(unheard);
    // Who is cut off from the store would take all others for lost.
    if (!election_.leads()) {
      // Whoever leads now tells of them.
      if (!std::exchange(told, {}).empty()) incidents_->hear_peer(std::string(kNobody), {});
      continue;
    }
    incidents_->end_lost_nodes([this](const std::string& node) {
      const auto peer = peers_.find(node);
      return peer != peers_.end() && peer->second.present && !words_.is_doubted(node);
    });
    if (runtime_.now() - wrote_ >= kWriteEvery) {
      presence_.put(store::registration_key(self_.node), registered_);
      wrote_ = runtime_.now();
    }
    std::vector<Symptom> lost = lost_nodes();
    if (std::exchange(told, lost) == lost) continue;
    incidents_->hear_peer(std::string(kNobody), std::move(lost));
  }
}

std::vector<Symptom> Coordination::lost_nodes() const {
  const TimePoint now = runtime_.now();
  const Duration window = judge::info(judge::Code::kNodeDown).window.fixed;
  std::vector<Symptom> lost;
  for (const auto& [node, peer] : peers_) {
    if (peer.present || !peer.registration || now - peer.changed < window) continue;
    Symptom symptom;
    symptom.owner = symptom.component = incidents::node_in_graph(node);
    symptom.code = judge::Code::kNodeDown;
    symptom.severity = judge::info(symptom.code).severity;
    symptom.names = {node};
    symptom.summary = fmt::format("nothing is heard of the agent on {}", node);
    symptom.since = peer.changed;
    lost.push_back(std::move(symptom));
  }
  return lost;
}

std::vector<serve::AgentRow> Coordination::agents() const {
  const TimePoint now = runtime_.now();
  const std::vector<store::Election::Candidate> queue = election_.candidates();
  std::vector<serve::AgentRow> rows;
  for (const auto& [node, peer] : peers_) {
    serve::AgentRow row;
    row.name = node;
    row.present = peer.present;
    row.since = now - peer.changed;
    row.here = node == self_.node;
    row.doubted = !row.here && words_.is_doubted(node);
    row.leads = election_.is_led() && queue.front().name == node;
    if (peer.registration) {
      row.labels = peer.registration->labels;
      row.release = peer.registration->release;
      row.boot = peer.registration->boot;
      row.started = peer.registration->since;
    }
    for (const Symptom& symptom : words_.said(node)) {
      row.symptoms.push_back({symptom.component, std::string(to_string(symptom.code)),
                              std::string(to_string(symptom.severity)), symptom.summary,
                              now - symptom.since});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Duration> Coordination::age() const {
  // Renewals come more often than news of the others.
  const auto heard = std::max(follower_.confirmed(), election_.confirmed());
  if (!heard) return std::nullopt;
  return runtime_.now() - *heard;
}

std::optional<std::string> Coordination::isolation() const {
  if (has_twin()) {
    return fmt::format(
        "another agent calls itself '{}' too: give each agent a name of its own ('node: name')",
        self_.node);
  }
  const std::optional<Duration> heard = age();
  const Duration silence = heard.value_or(runtime_.now() - begun_);
  if (silence <= kIsolatedAfter) return cut_off();
  const std::size_t others = peers_.size() - (peers_.contains(self_.node) ? 1 : 0);
  return fmt::format("my view alone: {} other agents are not heard, nor is the store", others);
}

std::optional<std::string> Coordination::cut_off() const {
  if (runtime_.now() - led_ > kIsolatedAfter) {
    const std::string why = election_.complaint() ? " (" + *election_.complaint() + ")" : "";
    return "no agent is known to lead, so perhaps nobody is told of anything" + why;
  }
  if (runtime_.now() - reached_ <= kIsolatedAfter) return std::nullopt;
  return "the other agents do not hear what this one sees: " + presence_.complaint().value_or("");
}

serve::ElectionState Coordination::election() const {
  serve::ElectionState state;
  state.leads = election_.leads();
  for (const store::Election::Candidate& one : election_.candidates()) {
    state.candidates.push_back({escape_control(one.name), escape_control(one.key),
                                one.create_revision, one.key == election_.own_key(), one.leased});
  }
  if (const auto confirmed = election_.confirmed()) state.age = runtime_.now() - *confirmed;
  state.complaint = election_.complaint();
  if (!state.complaint) state.complaint = presence_.complaint();
  return state;
}

}  // namespace wardmote::agent
