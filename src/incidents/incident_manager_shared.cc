// What the manager of incidents does when agents share a store: one leads and makes the incidents
// of what all of them see, and the others show them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "incidents/dependencies.h"
#include "incidents/incident_manager.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/incident/news.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"
#include "store/follower.h"
#include "store/incident_record.h"
#include "store/notify_record.h"

namespace wardmote::incidents {

using judge::incident::Incident;
using judge::incident::Symptom;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kReadAgain = 1s;
constexpr std::size_t kMostParts = 10'000;  // of a storm
/// A store that is there is heard every ten seconds.
constexpr Duration kStaleAfter = 15s;
/// What other agents say is known as well as the incidents by then.
constexpr Duration kAllIsHeard = 3s;

/// What failed at its root.
Symptom root_of(const Incident& incident) {
  Symptom symptom;
  symptom.owner = symptom.component = incident.root;
  symptom.code = incident.code;
  symptom.names = incident.names;
  return symptom;
}

}  // namespace

Task<void> IncidentManager::take_over() {
  const std::uint64_t term = term_;
  for (;;) {
    Result<void> taken = co_await records_.settle();
    // A lead that began meanwhile reads by itself.
    if (taken && term_ == term) taken = co_await newer_.put_back(history_, runtime_.now());
    if (taken && term_ == term) taken = co_await take_over_incidents();
    if (term_ != term) co_return;
    if (taken) break;
    log(LogLevel::kError, "records_not_read", {{"reason", taken.error().describe()}});
    co_await runtime_.sleep_until(runtime_.now() + kReadAgain);
    if (term_ != term) co_return;
  }
  records_.hold_back(false);
  well_before_ = well_;
  numbers_ = {};  // what this agent once wrote of them may not be there
  // It is as after a restart: what is wrong goes on under the names that it has.
  for (const Symptom& symptom : here_) raise_again(symptom);
  raise_of_others(&IncidentManager::raise_again);
  forget_gone();
  consider_open();
  co_await runtime_.sleep_until(runtime_.now() + kAllIsHeard);
  if (term_ == term) end_what_is_well();
}

/// Who leads may have been answered by the copy when others had written so much that nothing
/// showed it.
void IncidentManager::live_in(std::uint64_t history) {
  if (std::exchange(history_, history) == history || !records_.leads()) return;
  tasks_.spawn("write incidents anew", write_anew());
}

void IncidentManager::set_back(std::uint64_t history) {
  history_ = history;
  if (!follower_ || !follower_->confirmed() || !notifications_->confirmed()) return;
  NewerRecords::Records before = follower_->records();
  before.insert(notifications_->records().begin(), notifications_->records().end());
  newer_.keep(std::move(before), history, runtime_.now());
  if (records_.leads()) tasks_.spawn("write incidents anew", write_anew());
}

/// An older copy is in the place of the store, and this agent goes on leading: what it knows is
/// newer, and what it has ended must not begin again under the next leader.
Task<void> IncidentManager::write_anew() {
  const std::uint64_t term = term_;
  std::map<std::string, std::string> old;
  for (const std::string_view prefix :
       {store::kIncidentPrefix, store::kGroupPrefix, store::kSilencePrefix}) {
    auto records = co_await records_.load(std::string(prefix));
    while (!records && term_ == term) {
      co_await runtime_.sleep_until(runtime_.now() + kReadAgain);
      if (term_ == term) records = co_await records_.load(std::string(prefix));
    }
    if (term_ != term) co_return;
    old.merge(*std::move(records));
  }
  std::map<std::string, std::string> known = notifier_.records();
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  for (const auto& [id, incident] : book_.incidents())
    known[store::incident_key(id)] = store::encode(incident, clock);
  for (const auto& [key, value] : old) {
    if (!known.contains(key)) records_.put(key, std::nullopt);
  }
  for (auto& [key, value] : known) records_.put(key, std::move(value));
  newer_.led_on(history_);
  numbers_ = {};
  mark_numbers();
}

/// What became good while nobody led: who watches it has said so, and will not say it again.
void IncidentManager::end_what_is_well() {
  std::vector<std::int64_t> seen;
  std::vector<Symptom> well;  // of what went on in others
  judge::incident::Departures left;
  for (const auto& [id, incident] : book_.incidents()) {
    if (book_.awaited(id) && is_root_left(incident.root)) {
      left.gone.push_back(incident.root);
      continue;
    }
    if (book_.awaited(id) && (is_said_to_be_well(incident.root) || is_all_seen(incident)))
      seen.push_back(id);
    if (incident.phase == judge::incident::Phase::kMerged && is_said_to_be_well(incident.root) &&
        !fails(incident.root))
      well.push_back(root_of(incident));
  }
  take(book_.reshape(known_.graph, left, runtime_.now()));
  for (const std::int64_t id : seen) take(book_.give_up(id, runtime_.now()));
  for (const Symptom& symptom : well) take(book_.clear(symptom, runtime_.now()));
}

/// What each agent said last was raised again, also of those that are away: nothing else is part of
/// a storm.
bool IncidentManager::is_all_seen(const Incident& incident) const {
  return incident.storm && all_heard_ && unlooked_.empty() && doubted_.empty();
}

/// Whether any agent says that something is wrong with it.
bool IncidentManager::fails(std::string_view component) const {
  const auto is_it = [component](const Symptom& one) { return one.component == component; };
  return std::ranges::any_of(here_, is_it) || std::ranges::any_of(peers_, [&](const auto& peer) {
           return std::ranges::any_of(peer.second, is_it);
         });
}

bool IncidentManager::is_said_to_be_well(std::string_view root) const {
  if (!root.starts_with("check:")) return false;
  const std::string name(check_in(root));
  const std::size_t at = root.find('@');
  if (at == std::string_view::npos) return false;
  const std::string node(root.substr(at + 1));
  if (node == node_) return well_.contains(name) || uncounted_.contains(name);
  return peers_.contains(node) && !doubted_.contains(node);
}

bool IncidentManager::is_said(const Symptom& symptom) const {
  return std::ranges::any_of(peers_, [&](const auto& peer) {
    return std::ranges::any_of(
        peer.second, [&](const auto& one) { return judge::incident::same(one, symptom); });
  });
}

/// What is only worth knowing wakes nobody.
void IncidentManager::raise_again(const Symptom& symptom) {
  if (symptom.severity == judge::Severity::kInfo) return;
  take(book_.raise_again(symptom, runtime_.now()));
}

/// Somebody has taken the record of an open incident away, or damaged it: who follows would not
/// show it, and who leads next not know it.
void IncidentManager::stand_by_records(const store::Follower::Records& records) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  for (const auto& [id, incident] : book_.incidents()) {
    if (incident.phase != judge::incident::Phase::kOpen) continue;
    std::string key = store::incident_key(id);
    const auto stored = records.find(key);
    if (stored != records.end() && store::decode_incident(stored->second, clock)) continue;
    records_.put(std::move(key), store::encode(incident, clock));
  }
}

void IncidentManager::mirror(const store::Follower::Records& records) {
  if (records_.leads()) stand_by_records(records);
  if (records_.leads()) return;
  // What was given is never given again, also when the store was emptied.
  const std::int64_t last = book_.last_number();
  book_ = judge::incident::Book(known_.graph, book_policy(config_));
  book_.recall(decode(records), runtime_.now());
  book_.number_after(last);
  open_incidents_.reset();
  followed_.reset();
}

std::optional<std::string> IncidentManager::cut_off() const {
  if (!follower_ || records_.leads()) return std::nullopt;
  const auto heard = follower_->confirmed();
  if (!heard) return "the store was not heard since this agent started";
  if (store_full_) return "the store is full, and takes nothing of what the agent that leads says";
  if (newer_.is_due(runtime_.now()))
    return "an older copy is in the place of the store, and no agent has led since";
  const Duration silence = runtime_.now() - *heard;
  if (silence <= kStaleAfter) return cut_off_;
  return "the store was not heard for " + format_duration(silence);
}

std::string IncidentManager::node_of(const Incident& incident) const {
  const std::string_view root = incident.root;
  if (root.starts_with("node:")) return std::string(root.substr(root.find(':') + 1));
  const std::size_t at = root.starts_with("check:") ? root.find('@') : std::string_view::npos;
  if (at != std::string_view::npos) return std::string(root.substr(at + 1));
  const auto tells = [&](const Symptoms& symptoms) {
    return std::ranges::any_of(symptoms, [&](const Symptom& symptom) {
      return symptom.owner == root || symptom.component == root;
    });
  };
  std::string only;
  for (const auto& [node, symptoms] : peers_) {
    if (!tells(symptoms)) continue;
    if (!only.empty()) return node_;
    only = node;
  }
  return only.empty() || tells(here_) ? node_ : only;
}

judge::notify::Labels IncidentManager::labels_for(const Incident& incident) const {
  const std::string node = node_of(incident);
  if (node == node_) return incident_labels(incident, config_.node.labels, node);
  return incident_labels(
      incident, labels_of_ ? labels_of_(node) : std::map<std::string, std::string>(), node);
}

std::vector<judge::notify::NoticePart> IncidentManager::parts_of(const Incident& storm) const {
  std::vector<judge::notify::NoticePart> parts;
  for (const Symptom& symptom : book_.symptoms_of(storm.id, kMostParts)) {
    Incident alone;
    alone.root = symptom.component;
    alone.code = symptom.code;
    alone.severity = symptom.severity;
    alone.names = symptom.names;
    parts.push_back({symptom.code, labels_for(alone), symptom.since});
  }
  return parts;
}

bool IncidentManager::place(const std::string& node, const Symptoms& symptoms) {
  bool any = false;
  const auto put = [&](const std::string& thing, std::string kind, std::vector<std::string> above) {
    const std::vector<std::string> known = known_.graph.above(thing);
    const auto is_known = [&](const std::string& one) {
      return std::ranges::find(known, one) != known.end();
    };
    // Where something of ours is nobody else tells.
    const bool of_ours = known_.graph.contains(thing) && !placed_.contains(thing);
    if (of_ours || std::ranges::all_of(above, is_known)) return;
    known_.graph.add(thing, std::move(kind), std::move(above));
    placed_.insert(thing);
    any = true;
  };
  for (const Symptom& symptom : symptoms) {
    const bool whole = symptom.component == symptom.owner;
    if (!symptom.owner.ends_with("@" + node)) {
      put(symptom.component, whole ? symptom.kind : "part", symptom.above);
      continue;
    }
    // Agents may call parts of what each has the same.
    std::vector<std::string> above = whole ? symptom.above : std::vector<std::string>();
    above.push_back(node_in_graph(node));
    put(symptom.owner, symptom.kind.empty() ? "check" : symptom.kind, std::move(above));
  }
  return any;
}

IncidentManager::Counts IncidentManager::checks_by_kind() const {
  Counts counts;
  for (const config::Check& check : config_.checks) {
    const std::string owner = known_.owner_of(check.name);
    if (owner == judge::incident::check_node(check.name + "@" + node_))
      ++counts[std::string(known_.graph.kind(owner))];
  }
  return counts;
}

void IncidentManager::count_checks_of_all() {
  Counts all = checks_by_kind();
  for (const auto& [node, counts] : peers_checks_) {
    for (const auto& [kind, count] : counts) all[kind] += count;
  }
  known_.graph.expect(std::move(all));
}

bool IncidentManager::is_to_be_judged(const std::string& owner) const {
  const bool early = runtime_.now() < unseen_until_;
  const std::string name(check_in(owner));
  if (is_there(name) && known_.owner_of(name) == owner) {
    // A cluster is healthy before all that may be found of it had its time.
    const bool takes_time = early && known_.place_of(name).has_findings;
    return takes_time || !judged_.contains(name);
  }
  if (owner.starts_with("check:") || judged_.contains(owner) || known_.lacks(owner)) return false;
  // What a domain found by itself may not be found again yet.
  return early || std::ranges::any_of(discovered_, [&](const auto& kind) {
           const auto found = std::ranges::find(kind.second, owner, &DiscoveredThing::node);
           return found != kind.second.end() && !found->part;
         });
}

std::vector<Symptom> IncidentManager::symptoms(Symptoms& before) {
  Symptoms all = here_;
  for (Symptom& symptom : all) symptom.recalled = recalled_.contains(symptom.owner);
  // What was raised in this life ends in it.
  std::erase_if(before, [&](const Symptom& one) {
    return !is_to_be_judged(one.owner) || std::ranges::any_of(here_, [&](const Symptom& ours) {
      return judge::incident::same(ours, one);
    });
  });
  for (const Symptom& earlier : before) {
    all.push_back(earlier);
    all.back().recalled = true;
  }
  return all;
}

void IncidentManager::hear_peer(const std::string& node, Symptoms symptoms, Counts checks,
                                Owners watches) {
  // Of nodes that are lost nobody has checks.
  const Owners watched =
      node.empty() ? Owners() : std::exchange(peers_watch_[node], std::move(watches));
  followed_.reset();
  const bool was_doubted = doubted_.erase(node) > 0;
  const bool counted = peers_checks_[node] != checks;
  peers_checks_[node] = std::move(checks);
  const Symptoms before = std::exchange(peers_[node], std::move(symptoms));
  const bool moved = place(node, peers_[node]) || counted;
  if (moved) count_checks_of_all();
  if (!records_.leads()) return;
  if (moved) take(book_.reshape(known_.graph, {}, runtime_.now()));
  for (const auto& symptom : peers_[node]) {
    if (!is_ours(symptom) && is_to_raise(symptom)) raise(symptom);
  }
  for (const auto& old : before) {
    if (is_said(old) || is_ours(old)) continue;
    const bool left = watched && watched->contains(old.owner) && is_left(old.owner);
    take(left ? book_.reshape(known_.graph, {.gone = {old.owner}, .replaced = {}}, runtime_.now())
              : book_.clear(old, runtime_.now()));
  }
  if (was_doubted) end_what_is_well();
}

void IncidentManager::doubt_peer(const std::string& node) {
  doubted_.insert(node);
}

void IncidentManager::forget_peer(const std::string& node) {
  followed_.reset();
  doubted_.erase(node);
  const auto found = peers_.find(node);
  const Symptoms last = found == peers_.end() ? Symptoms() : std::move(found->second);
  if (found != peers_.end()) peers_.erase(found);
  peers_checks_.erase(node);
  peers_watch_.erase(node);
  count_checks_of_all();
  if (!records_.leads()) return;
  // Nobody has seen it good, nor will.
  judge::incident::Departures left{.gone = {node_in_graph(node)}, .replaced = {}};
  for (const Symptom& symptom : last) {
    if (!is_said(symptom) && !is_ours(symptom)) left.gone.push_back(symptom.owner);
  }
  for (const auto& [id, incident] : book_.incidents()) {
    if (book_.awaited(id) && incident.root.ends_with("@" + node))
      left.gone.push_back(incident.root);
  }
  take(book_.reshape(known_.graph, left, runtime_.now()));
}

void IncidentManager::end_lost_nodes(const std::function<bool(const std::string& node)>& is_heard) {
  if (!records_.leads()) return;
  std::vector<std::int64_t> back;
  for (const auto& [id, incident] : book_.incidents()) {
    std::string_view node = incident.root;
    if (book_.awaited(id) && consume_prefix(node, "node:") && is_heard(std::string(node)))
      back.push_back(id);
  }
  for (const std::int64_t id : back) take(book_.give_up(id, runtime_.now()));
}

void IncidentManager::publish(std::function<void(const Symptoms&)> published) {
  published_ = std::move(published);
  published_(here_);
}

/// What nobody has seen in the present life of its agent goes on, and begins nothing.
bool IncidentManager::is_to_raise(const Symptom& symptom) const {
  return !symptom.recalled || book_.is_known(symptom);
}

/// Keeps what is wrong here, whoever leads.
void IncidentManager::note(const Symptom& symptom, bool stands) {
  if (!is_shared()) return;
  const auto known = std::ranges::find_if(
      here_, [&](const auto& one) { return judge::incident::same(one, symptom); });
  if (!stands && known == here_.end()) return;
  followed_.reset();
  if (!stands) {
    here_.erase(known);
  } else {
    Symptom told = symptom;
    told.kind = known_.graph.kind(symptom.owner);
    told.above = known_.graph.above(symptom.component);
    std::erase(told.above, node_in_graph(node_));  // each agent knows where the other is
    if (known == here_.end()) {
      here_.push_back(std::move(told));
    } else {
      told.since = known->since;
      *known = std::move(told);
    }
  }
  published_(here_);
}

}  // namespace wardmote::incidents
