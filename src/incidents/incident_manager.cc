#include "incidents/incident_manager.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/domain_xml.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/dependencies.h"
#include "incidents/notifier.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/finding.h"
#include "judge/incident/book.h"
#include "judge/incident/graph.h"
#include "judge/incident/incident.h"
#include "judge/incident/news.h"
#include "judge/notify/matcher.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/view.h"
#include "store/check_record.h"
#include "store/clock_pair.h"
#include "store/follower.h"
#include "store/incident_record.h"
#include "store/leadership.h"
#include "store/notify_record.h"
#include "store/number_mark.h"
#include "store/store.h"

namespace wardmote::incidents {
namespace {

using judge::Severity;
using judge::incident::Incident;
using judge::incident::News;
using judge::incident::Step;
using judge::incident::Steps;
using judge::notify::Labels;
using runtime::Task;
using namespace std::chrono_literals;

/// Time alone changes nothing so fast that more often would help.
constexpr Duration kShortestSleep = 1s;

/// The incident that somebody who acts or tells says that a change belongs to; nothing when the
/// book has to find it.
std::optional<std::int64_t> incident_in(const judge::Change& change) {
  if (const auto* const told = std::get_if<judge::IncidentChanged>(&change.event))
    return told->step.incident.id;
  if (const auto* const delivery = std::get_if<judge::DeliveryChanged>(&change.event))
    return delivery->incidents.size() == 1 ? delivery->incidents.front() : 0;
  if (const auto* const plan = std::get_if<judge::PlanChanged>(&change.event))
    return plan->incident;
  return std::nullopt;
}

/// The cluster with which, or with a member of which, something is wrong; else nothing.
std::string_view cluster_of(std::string_view root) {
  const std::string_view scope = take_until(root, ':');
  if (scope == "member") return take_until(root, '/');
  return scope == "cluster" || scope == "etcd" ? root : std::string_view();
}

}  // namespace

Labels incident_labels(const Incident& incident, const std::map<std::string, std::string>& of_node,
                       const std::string& node) {
  Labels labels(of_node.begin(), of_node.end());
  labels["code"] = to_string(incident.code);
  labels["severity"] = to_string(incident.severity);
  labels["root"] = incident.root;
  labels["node"] = node;
  std::string_view subject = incident.root;
  labels["scope"] = take_until(subject, ':');
  labels["subject"] = subject;
  const std::string_view cluster = cluster_of(incident.root);
  if (!cluster.empty()) labels["cluster"] = cluster;
  if (labels["scope"] != "guest") return labels;
  for (const std::string& name : incident.names) {
    if (auto uuid = codec::parse_uuid(name)) labels["uuid"] = *std::move(uuid);
  }
  return labels;
}

IncidentManager::IncidentManager(runtime::Runtime& runtime, store::Store* store,
                                 store::Leadership& leadership, const config::Config& config,
                                 std::string node, ChangeFeed& feed, NotifierOptions receivers,
                                 Depends depends, store::Store* own)
    : runtime_(runtime),
      config_(config),
      node_(std::move(node)),
      feed_(feed),
      depends_(std::move(depends)),
      known_(dependencies(config, depends_, own == nullptr ? "" : node_)),
      book_(known_.graph, book_policy(config)),
      alone_(runtime, nullptr),
      records_(runtime, store, leadership),
      newer_(records_),
      notifier_(runtime, records_, feed, config.node, std::move(receivers)),
      wake_up_(runtime, "watch incidents",
               [this] {
                 if (records_.leads()) take(book_.pass(runtime_.now()));
               }),
      tasks_(runtime.executor()) {
  note_ours();
  if (own != nullptr) {
    own_.emplace(runtime, own, alone_);
    records_.wait_for_store();
    follower_.emplace(runtime, *store, std::string(store::kIncidentPrefix),
                      [this](const store::Follower::Records& records) { mirror(records); });
    notifications_.emplace(runtime, *store, std::string(store::kNotifyPrefix),
                           [this](const store::Follower::Records& records) {
                             newer_.see(records);
                             if (!records_.leads()) notifier_.mirror_silences(records);
                           });
  }
  seen_good_.emplace(config_, records(), node_);
  notifier_.ask_storms({.rages = [this](const Incident& storm) { return book_.rages(storm); },
                        .parts = [this](const Incident& storm) { return parts_of(storm); }});
  notifier_.ask_confirmed([this](const Incident& incident) { return confirmed(incident); });
  feed_.listen_restated([this](const judge::Change& change) { restate_finding(change); });
  leadership.listen([this](bool leads) {
    // What is not written is another agent's to write.
    ++term_;
    records_.drop();
    records_.hold_back(true);
    if (leads) {
      tasks_.spawn("take over incidents", take_over());
      return;
    }
    // What could not be written down is not so, and no change of the store will tell.
    if (follower_ && follower_->confirmed()) mirror(follower_->records());
    if (notifications_ && notifications_->confirmed())
      notifier_.mirror_silences(notifications_->records());
  });
}

Task<Result<void>> IncidentManager::open() {
  if (!is_shared()) {
    Result<void> opened = co_await take_over_incidents();
    if (opened) opened = co_await recall_checks();
    if (!opened) co_return opened;
    forget_gone();
    consider_open();
    co_return opened;
  }
  // The shared store may be away: this agent watches all the same, and waits for its turn.
  records_.hold_back(true);
  follower_->start();
  notifications_->start();
  Result<void> opened = co_await recall_checks();
  co_return opened;
}

std::vector<Incident> IncidentManager::decode(const store::Follower::Records& records) {
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  std::vector<Incident> incidents;
  for (const auto& [key, record] : records) {
    auto incident = store::decode_incident(record, clock);
    if (!incident) {
      // Of a later version, or damaged: better to miss one than to watch nothing.
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
      continue;
    }
    incidents.push_back(*std::move(incident));
  }
  return incidents;
}

void IncidentManager::raise(const judge::incident::Symptom& symptom) {
  // What is only worth knowing wakes nobody, and what was worse until now is over.
  const bool wrong = symptom.severity != Severity::kInfo;
  take(wrong ? book_.raise(symptom, runtime_.now()) : book_.clear(symptom, runtime_.now()));
}

Task<Result<void>> IncidentManager::take_over_incidents() {
  const std::uint64_t term = term_;
  const auto records = co_await records_.load(std::string(store::kIncidentPrefix));
  if (!records && records.error().code == Errc::kExhausted) {
    // To watch and to tell comes before remembering.
    log(LogLevel::kError, "records_not_read", {{"reason", records.error().describe()}});
    book_.number_after(store::NumberMark::apart(runtime_.wall_now(), runtime_.random()));
    co_return Result<void>();
  }
  if (!records) co_return std::unexpected(records.error());
  const auto last = co_await records_.load(std::string(store::kLastIncidentKey));
  if (!last) co_return std::unexpected(last.error());
  // What was read may be older than what a later lead has read and changed.
  if (term != term_) co_return fail(Errc::kRejected, "the lead has passed on meanwhile");
  const std::vector<Incident> incidents = decode(*records);
  judge::incident::Book book(known_.graph, book_policy(config_));
  book.recall(incidents, runtime_.now());
  // What it gave is never given again, also when it could not be written.
  book.number_after(book_.last_number());
  book_ = std::move(book);
  for (const auto& [key, number] : *last)
    book_.number_after(parse_number<std::int64_t>(number).value_or(0));
  numbers_known_ = true;
  if (records_.leads()) {
    mark_numbers();
    records_.after_writing([this] {
      if (records_.complaint())
        book_.number_after(store::NumberMark::apart(runtime_.wall_now(), runtime_.random()));
    });
  }
  Result<void> opened = co_await notifier_.recall();
  if (!opened) co_return opened;
  for (const auto& [id, incident] : book_.incidents()) notifier_.catch_up(incident);
  co_return opened;
}

Task<Result<void>> IncidentManager::recall_checks() {
  const auto checks = co_await this->records().load(store::check_prefix(node_));
  if (!checks) co_return std::unexpected(checks.error());
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  unseen_until_ = clock.now + book_policy(config_).settle;
  for (const auto& [key, record] : *checks) recall_check(key, record, clock);
  Result<void> recalled = co_await seen_good_->recall();
  co_return recalled;
}

/// What the configuration has no more since an earlier life will never be seen again.
void IncidentManager::forget_gone() {
  judge::incident::Departures left;
  for (const auto& [id, incident] : book_.incidents()) {
    const bool over = incident.phase == judge::incident::Phase::kResolved;
    if (!over && is_gone(incident.root, config_, known_, graph_name()))
      left.gone.push_back(incident.root);
  }
  take(book_.reshape(known_.graph, left, runtime_.now()));
}

/// What it stands for in the book stands again at once, so that a restart changes nothing that is
/// said.
void IncidentManager::recall_check(const std::string& key, const std::string& record,
                                   const store::ClockPair& clock) {
  auto known = store::decode_reported_check(record, clock);
  if (!known) {
    log(LogLevel::kError, "record_not_understood", {{"key", key}});
    return;
  }
  if (!is_there(known->name)) {
    records().put(key, std::nullopt);
    if (is_shared()) return;
    take(book_.leave(judge::incident::check_node(known->name), known->kind, runtime_.now()));
    return;
  }
  // It may be optional since then, and was never good.
  known->change.counts = known->change.seen_good || !known_.place_of(known->name).optional;
  const judge::Change change{
      .at = {}, .of = {judge::ThingKind::kCheck, known->name}, .event = known->change};
  if (const auto news = news_of(change, known_, known->since); news && news->stands) {
    note(news->symptom, true);
    if (!is_shared()) take(book_.raise_again(news->symptom, runtime_.now()));
    unlooked_.insert(news->symptom.owner);
    recalled_.insert(news->symptom.owner);
  } else if (news && news->left) {
    uncounted_.insert(known->name);
    if (!is_shared())
      take(book_.reshape(known_.graph, {.gone = {news->symptom.owner}, .replaced = {}},
                         runtime_.now()));
  }
  written_checks_.insert(known->name);
  reasons_.tell(known->name, known->change.reason, runtime_.now());
  const bool found = known->change.reason.code == judge::ReasonCode::kState;
  if (known_.place_of(known->name).has_findings && found)
    unseen_.emplace(known->name, known->change.reason);
  known_failures_.push_back({std::move(known->name), std::move(known->change.reason),
                             known->change.seen_good, known->since});
}

/// A check that is reported, until it is not.
void IncidentManager::write_down(const judge::Change& change) {
  const auto* const check = std::get_if<judge::CheckChanged>(&change.event);
  if (check == nullptr) return;
  const std::string& name = change.of.name;
  const auto its = std::ranges::find(config_.checks, name, &config::Check::name);
  const bool there = its != config_.checks.end();
  if (check->to != judge::State::kReported || !there) return forget_check(name);
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  written_checks_.insert(name);
  records().put(store::check_key(node_, name),
                store::encode_reported_check(name, its->kind->name, *check, clock));
}

bool IncidentManager::is_there(const std::string& check) const {
  return std::ranges::find(config_.checks, check, &config::Check::name) != config_.checks.end();
}

void IncidentManager::forget_check(std::string_view name) {
  if (written_checks_.erase(std::string(name)) > 0) {
    records().put(store::check_key(node_, name), std::nullopt);
  }
}

serve::OpenIncidents IncidentManager::open_incidents() {
  if (open_incidents_) return *open_incidents_;
  serve::OpenIncidents& counted = open_incidents_.emplace();
  for (const auto& [id, incident] : book_.incidents()) {
    if (incident.phase != judge::incident::Phase::kOpen) continue;
    ++counted.open;
    if (!counted.gravest || incident.severity > *counted.gravest)
      counted.gravest = incident.severity;
  }
  return counted;
}

Task<void> IncidentManager::stop() {
  co_await tasks_.stop();
  if (follower_) co_await follower_->stop();
  if (notifications_) co_await notifications_->stop();
  co_await wake_up_.stop();
  co_await notifier_.stop();
  // No number is given any more.
  if (numbers_known_ && records_.leads())
    records_.put(std::string(store::kLastIncidentKey), std::to_string(book_.last_number()));
  co_await records_.stop();
  if (own_) co_await own_->stop();
}

std::int64_t IncidentManager::hear(const judge::Change& change) {
  if (const auto incident = incident_in(change)) return *incident;
  const TimePoint now = runtime_.now();
  write_down(change);
  seen_good_->hear(change);
  see_again(change);
  const auto* const check = std::get_if<judge::CheckChanged>(&change.event);
  if (check != nullptr && check->to == judge::State::kReported) {
    reasons_.tell(change.of.name, check->reason, now);
  } else if (check != nullptr) {
    reasons_.forget(change.of.name);
  }
  if (check != nullptr && is_shared()) {
    const bool judged = check->to == judge::State::kHealthy || check->to == judge::State::kReported;
    if (judged) judged_.insert(change.of.name);
    if (check->to == judge::State::kHealthy) well_.insert(change.of.name);
    if (check->to == judge::State::kReported) well_.erase(change.of.name);
  }
  const std::optional<News> news = news_of(change, known_, now);
  if (!news) return 0;
  tell_words(news->symptom, news->stands);
  note(news->symptom, news->stands);
  const std::int64_t before = book_.incident_of(news->symptom);
  if (follows()) {
    end_blindness(change, *news);
    return before;
  }
  if (news->left) {
    if (before != 0) take(book_.reshape(known_.graph, {{news->symptom.owner}, {}}, now));
    return before;
  }
  if (!news->stands) {
    take(book_.clear(news->symptom, now));
    end_blindness(change, *news);
    return before;
  }
  raise(news->symptom);
  end_blindness(change, *news);
  return book_.incident_of(news->symptom);
}

/// A check that is good, or reported, is seen: also if an earlier life of the agent did not see it.
void IncidentManager::end_blindness(const judge::Change& change, const News& news) {
  if (!std::holds_alternative<judge::CheckChanged>(change.event)) return;
  judge::incident::Symptom blind = news.symptom;
  blind.code = judge::Code::kMonitorBlind;
  note(blind, false);
  if (!follows()) take(book_.clear(blind, runtime_.now()));
}

judge::incident::Dependencies IncidentManager::all_dependencies() const {
  judge::incident::Dependencies all = dependencies(config_, depends_, graph_name());
  for (const auto& [kind, things] : discovered_) {
    for (const DiscoveredThing& thing : things) {
      std::string called(kind.name());
      if (thing.part) {
        all.graph.add_part(thing.node, std::move(called));
      } else {
        all.graph.add(thing.node, std::move(called), thing.above);
      }
    }
  }
  return all;
}

void IncidentManager::discovered(judge::ThingKind kind, std::vector<DiscoveredThing> things,
                                 std::vector<std::string> gone) {
  discovered_[kind] = std::move(things);
  reshape({.gone = std::move(gone), .replaced = {}});
}

/// To what there is now. Who follows another agent shows what that one makes of it.
void IncidentManager::reshape(judge::incident::Departures left) {
  known_ = all_dependencies();
  note_ours();
  followed_.reset();
  for (const auto& [node, symptoms] : peers_) place(node, symptoms);
  count_checks_of_all();
  leave_to_others(left);
  published_(here_);
  if (follows()) {
    if (follower_->confirmed()) mirror(follower_->records());
    return;
  }
  take(book_.reshape(known_.graph, left, runtime_.now()));
  raise_of_others(&IncidentManager::raise);
}

void IncidentManager::reload(const judge::incident::Departures& left) {
  for (const auto* const owners : {&left.gone, &left.replaced}) {
    for (const std::string& owner : *owners) seen_good_->forget(check_in(owner));
  }
  for (const std::string& owner : left.gone) {
    const std::string_view check = check_in(owner);
    unlooked_.erase(owner);
    recalled_.erase(owner);
    forget_check(check);
    std::erase_if(unseen_, [check](const auto& reported) { return reported.first == check; });
  }
  reshape(left);
}

void IncidentManager::reload(NotifierOptions receivers) {
  notifier_.reload(std::move(receivers));
  consider_open();
}

/// Routes, receivers and the node's labels may be others since an incident was told.
void IncidentManager::consider_open() {
  for (const auto& [id, incident] : book_.incidents()) {
    if (incident.phase != judge::incident::Phase::kOpen) continue;
    notifier_.consider(incident, labels_for(incident));
  }
}

Result<void> IncidentManager::acknowledge(std::int64_t id, std::string by, std::string comment) {
  if (!records_.leads()) return fail(Errc::kRejected, "{}", records_.another_leads());
  const Steps steps = book_.acknowledge(id, std::move(by), std::move(comment), runtime_.now());
  if (steps.empty()) return fail(Errc::kMissing, "no incident of this number is open");
  take(steps);
  return {};
}

void IncidentManager::take(const Steps& steps) {
  open_incidents_.reset();
  followed_.reset();
  const store::ClockPair clock{runtime_.now(), runtime_.wall_now()};
  for (const Step& step : steps) {
    records_.put(store::incident_key(step.incident.id), store::encode(step.incident, clock));
    notifier_.hear(step, labels_for(step.incident));
    feed_.tell({judge::ThingKind::kIncident, std::to_string(step.incident.id)},
               judge::IncidentChanged{step});
  }
  mark_numbers();
  for (const std::int64_t id : book_.take_renamed()) {
    const auto renamed = book_.incidents().find(id);
    if (renamed == book_.incidents().end()) continue;
    records_.put(store::incident_key(id), store::encode(renamed->second, clock));
    notifier_.renew(renamed->second);
  }
  for (const std::int64_t id : book_.take_forgotten()) {
    records_.put(store::incident_key(id), std::nullopt);
  }
  schedule();
}

void IncidentManager::mark_numbers() {
  if (!numbers_known_) return;
  const auto mark = numbers_.move(book_.last_number());
  if (mark) records_.put(std::string(store::kLastIncidentKey), std::to_string(*mark));
}

void IncidentManager::schedule() {
  if (const auto next = book_.next_change()) {
    wake_up_.at(std::max(*next, runtime_.now() + kShortestSleep));
  }
}

}  // namespace wardmote::incidents
