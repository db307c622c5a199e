#include "agent/guests/guest_watch.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "act/plan/plan_runner.h"
#include "act/plan/step_executors.h"
#include "agent/board.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/guests/guest.h"
#include "agent/scheduler.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/domain_xml.h"
#include "config/config.h"
#include "config/guests.h"
#include "config/reload_plan.h"
#include "incidents/incident_manager.h"
#include "incidents/record_writer.h"
#include "judge/check_machine.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/thing.h"
#include "net/libvirt/api.h"
#include "net/libvirt/hypervisor.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/guest/guest_view.h"
#include "serve/thing_view.h"
#include "store/clock_pair.h"
#include "store/guest_record.h"

namespace wardmote::agent {
namespace {

using judge::Observation;
using judge::Outcome;
using runtime::Deadline;
using runtime::Hypervisor;
using runtime::HypervisorEvent;
using runtime::Task;
using namespace std::chrono_literals;

/// What a hypervisor that is well answers in milliseconds.
constexpr Duration kAsked = 5s;
constexpr Duration kListAgain = 2s;
/// What is shown of a guest is at most so old.
constexpr Duration kShownFor = 10s;
/// Guests that were ended and of which it is remembered how often they were lost.
constexpr std::size_t kMostGone = 1000;

class HypervisorProbe final : public observe::Probe {
 public:
  HypervisorProbe(GuestWatch& watch, std::string check) : watch_(watch), check_(std::move(check)) {}
  Task<Observation> look(Deadline deadline) override {
    std::string check = check_;
    Observation seen = co_await watch_.look(std::move(check), deadline);
    co_return seen;
  }

 private:
  GuestWatch& watch_;
  std::string check_;
};

Result<std::unique_ptr<Hypervisor>> make_libvirt(runtime::Runtime& runtime,
                                                 const config::Guests& guests) {
  const auto api = net::libvirt::Api::load();
  if (!api) return std::unexpected(api.error());
  return std::make_unique<net::libvirt::Hypervisor>(
      runtime, **api,
      net::libvirt::Options{.uri = guests.uri, .response_timeout = guests.response_timeout});
}

bool same_hypervisor(const config::Guests& a, const config::Guests& b) {
  return a.uri == b.uri && a.response_timeout == b.response_timeout;
}

}  // namespace

GuestWatch::GuestWatch(const DomainTools& tools, MakeHypervisor make)
    : tools_(tools),
      make_(std::move(make)),
      agents_(tools.runtime),
      executor_([this] { return hypervisor_; }),
      tasks_(tools.runtime.executor()) {
  tools_.executors.add(judge::guest::kGuestKind, executor_);
}

GuestWatch::GuestWatch(const DomainTools& tools) : GuestWatch(tools, make_libvirt) {}

GuestWatch::~GuestWatch() = default;

Task<Result<void>> GuestWatch::recall() {
  const auto records = co_await tools_.records.load(store::guest_prefix(tools_.node));
  if (!records) co_return std::unexpected(records.error());
  const store::ClockPair clock{tools_.runtime.now(), tools_.runtime.wall_now()};
  for (const auto& [key, text] : *records) {
    auto record = store::decode_guest(text, clock);
    if (record) {
      std::string uuid = record->names.uuid;
      recalled_.insert_or_assign(std::move(uuid), *std::move(record));
    } else {
      log(LogLevel::kError, "record_not_understood", {{"key", key}});
    }
  }
  co_return Result<void>();
}

Result<Domain::Adopt> GuestWatch::prepare(const config::Config&) {
  return [this](const config::Config& now, const config::ReloadPlan&) { adopt(now); };
}

const observe::ProbeKind& GuestWatch::kind() const noexcept {
  return config::guests_kind();
}

std::unique_ptr<observe::Probe> GuestWatch::probe(const config::Check& check) {
  return std::make_unique<HypervisorProbe>(*this, check.name);
}

void GuestWatch::adopt(const config::Config& now) {
  const std::optional<config::Guests> before = std::exchange(config_, now.guests);
  if (config_ && before && same_hypervisor(*config_, *before)) {
    // Each has its policy of the new configuration as soon as it is described anew.
    if (*config_ != *before && hypervisor_ && !unreachable_)
      tasks_.spawn("list guests", list_again(hypervisor_));
    return;
  }
  if (hypervisor_) {
    if (following_) tasks_.cancel(*following_);
    if (proving_) tasks_.cancel(*proving_);
    tasks_.spawn("end hypervisor", end_hypervisor(std::exchange(hypervisor_, nullptr)));
  }
  std::vector<std::string> gone;
  for (auto& [uuid, guest] : guests_) {
    tools_.scheduler.remove(look_of(uuid));
    gone.push_back(serve::guest_node(guest.names.name));
    gone.push_back(serve::guest_inside_node(guest.names.name));
    tools_.records.put(store::guest_key(tools_.node, uuid), std::nullopt);
  }
  guests_.clear();
  for (const auto& [uuid, alarms] : std::exchange(alarms_of_gone_, {}))
    tools_.records.put(store::guest_key(tools_.node, uuid), std::nullopt);
  if (config_) begin();
  show_all(std::move(gone));
  for (auto& [uuid, guest] : guests_) judge(guest);
}

/// What an earlier life knew stands from the first moment, so that a restart changes nothing that
/// is said.
void GuestWatch::begin() {
  const TimePoint now = tools_.runtime.now();
  for (auto& [uuid, record] : std::exchange(recalled_, {})) {
    if (record.process < 0) {
      recall_gone(std::move(record));
      continue;
    }
    Guest guest(record.names, config_->policy, now);
    guest.machine.recall(record.machine, now);
    guest.inside.recall(record.inside, now);
    guest.process = record.process;
    guest.written = record;
    guests_.emplace(uuid, std::move(guest));
  }
  auto made = make_(tools_.runtime, *config_);
  if (!made) {
    unreachable_ = made.error();
    log(LogLevel::kError, "guests_not_watched", {{"reason", made.error().describe()}});
    return;
  }
  hypervisor_ = *std::move(made);
  unreachable_ = Error{Errc::kUnreachable, "libvirt: not connected yet"};
  hypervisor_->start();
  following_ = tasks_.spawn("follow guests", follow(hypervisor_));
  proving_ = tasks_.spawn("prove hypervisor", prove(hypervisor_));
}

Task<void> GuestWatch::end_hypervisor(std::shared_ptr<Hypervisor> old) {
  co_await old->stop();
}

Task<void> GuestWatch::stop() {
  co_await tasks_.stop();
  if (hypervisor_) co_await hypervisor_->stop();
}

Task<Observation> GuestWatch::look(std::string check, Deadline deadline) {
  Observation seen;
  seen.subject = std::move(check);
  seen.begun = tools_.runtime.now();
  std::optional<Error> problem = unreachable_;
  if (!problem && hypervisor_) {
    const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
    const Result<void> knocked = co_await hypervisor->knock(deadline);
    if (!knocked) problem = knocked.error();
  }
  seen.ended = tools_.runtime.now();
  // libvirt fails; of its guests nothing is known then, and nothing is held against them.
  seen.outcome = problem ? Outcome::kFail : Outcome::kOk;
  if (problem) seen.reason = {observe::reason_of(*problem).code, problem->describe()};
  co_return seen;
}

Task<void> GuestWatch::follow(std::shared_ptr<Hypervisor> hypervisor) {
  for (;;) {
    std::vector<HypervisorEvent> told = co_await hypervisor->events();
    for (HypervisorEvent& event : told) {
      co_await take_in(hypervisor, std::move(event));
    }
  }
}

void GuestWatch::lose(const Error& why) {
  if (!unreachable_) log(LogLevel::kWarning, "hypervisor_lost", {{"reason", why.describe()}});
  unreachable_ = why;
  for (auto& [uuid, guest] : guests_) guest.hold.lost();
}

Task<void> GuestWatch::take_in(std::shared_ptr<Hypervisor> hypervisor, HypervisorEvent event) {
  if (const auto* const lost = std::get_if<HypervisorEvent::Lost>(&event.what)) {
    lose(lost->why);
    co_return;
  }
  if (std::holds_alternative<HypervisorEvent::Connected>(event.what)) {
    log(LogLevel::kInfo, "hypervisor_connected", {{"uri", config_->uri}});
    unreachable_.reset();
    co_await list_again(hypervisor);
    co_return;
  }
  const auto* const life = std::get_if<HypervisorEvent::Lifecycle>(&event.what);
  if (life != nullptr && life->event == kUndefined) {
    const auto undefined = guests_.find(event.uuid);
    // A transient one that runs stays.
    if (undefined != guests_.end() && !undefined->second.there) leave(event.uuid);
    if (alarms_of_gone_.erase(event.uuid) > 0)
      tools_.records.put(store::guest_key(tools_.node, event.uuid), std::nullopt);
    co_return;
  }
  // Whoever does not run begins with STARTED, whatever is told of him before that (RESUMED is).
  const auto before = guests_.find(event.uuid);
  const bool known = before != guests_.end();
  const bool runs = known && before->second.there;
  if (!runs && (life == nullptr || life->event != kStarted)) co_return;
  if (tools_.recoverer.hear) tools_.recoverer.hear(event);
  Guest& guest = arrive(event.uuid, event.name);
  const bool read_again = guest.hear(event);
  if (!guest.there && !guest.machine.lost()) {
    leave(event.uuid);
    co_return;
  }
  if (read_again) {
    const bool described = co_await describe(hypervisor, event.uuid);
    if (!described) co_return;
  }
  const auto heard = guests_.find(event.uuid);
  if (heard == guests_.end() || hypervisor != hypervisor_) co_return;
  if (!known) show_all({});
  judge(heard->second);
  // Plans know at once what everybody else is told now.
  tasks_.spawn("look for plan", tell_plans(heard->first, tools_.runtime.now()));
  if (std::holds_alternative<HypervisorEvent::Agent>(event.what))
    tools_.scheduler.look_now(look_of(heard->first));
}

/// Goes over to what the hypervisor has: events may have been lost.
Task<void> GuestWatch::list_again(std::shared_ptr<Hypervisor> hypervisor) {
  for (;;) {
    const Deadline deadline = tools_.runtime.deadline_in(kAsked);
    const auto entries = co_await hypervisor->list(deadline);
    // A reload may have gone over to another hypervisor meanwhile, or to none.
    if (hypervisor != hypervisor_) co_return;
    if (entries) {
      find_all(*entries);
      break;
    }
    log(LogLevel::kWarning, "guests_not_listed", {{"reason", entries.error().describe()}});
    co_await tools_.runtime.sleep_until(tools_.runtime.now() + kListAgain);
    if (unreachable_) co_return;
  }
  std::vector<std::string> all;
  all.reserve(guests_.size());
  for (const auto& [uuid, guest] : guests_) all.push_back(uuid);
  for (const std::string& uuid : all) {
    if (is_over(uuid)) {
      co_await end(hypervisor, uuid);
    } else {
      co_await describe(hypervisor, uuid);
    }
    if (unreachable_ || hypervisor != hypervisor_) co_return;
  }
  show_all({});
  for (auto& [uuid, guest] : guests_) judge(guest);
  tell_of_gone();
}

void GuestWatch::find_all(const std::vector<runtime::GuestEntry>& entries) {
  const TimePoint now = tools_.runtime.now();
  for (auto& [uuid, guest] : guests_) guest.there = false;
  for (const runtime::GuestEntry& entry : entries) {
    Guest& guest = arrive(entry.uuid, entry.name);
    ++guest.epoch;
    guest.found(entry, now);
  }
  // Before anybody looks at them, or what is seen would be told to nobody.
  show_all({});
}

/// It does not run, and nothing is to be said of that.
bool GuestWatch::is_over(const std::string& uuid) const {
  const auto found = guests_.find(uuid);
  return found == guests_.end() || (!found->second.there && !found->second.machine.lost());
}

/// It ended while nobody listened: libvirt knows how, as long as it lives itself.
Task<void> GuestWatch::end(std::shared_ptr<Hypervisor> hypervisor, std::string uuid) {
  const Deadline deadline = tools_.runtime.deadline_in(kAsked);
  const auto standing = co_await hypervisor->standing(uuid, deadline);
  const auto found = guests_.find(uuid);
  if (found == guests_.end() || hypervisor != hypervisor_) co_return;
  if (standing) found->second.ended(*standing, tools_.runtime.now());
  if (is_over(uuid)) leave(uuid);
}

/// False: it is gone.
Task<bool> GuestWatch::describe(std::shared_ptr<Hypervisor> hypervisor, std::string uuid) {
  const Deadline deadline = tools_.runtime.deadline_in(kAsked);
  const auto xml = co_await hypervisor->describe(uuid, deadline);
  const auto found = guests_.find(uuid);
  if (found == guests_.end() || hypervisor != hypervisor_) co_return false;
  Guest& guest = found->second;
  if (!xml) {
    if (xml.error().code != Errc::kMissing) co_return true;
    leave(uuid);
    co_return false;
  }
  const auto parsed = codec::parse_domain_xml(*xml);
  if (!parsed) {
    log(LogLevel::kError, "guest_not_understood",
        {{"guest", guest.names.name}, {"reason", parsed.error().describe()}});
    co_return true;
  }
  guest.describe(*parsed, *config_, tools_.runtime.now());
  for (const std::string& complaint : guest.complaints)
    log(LogLevel::kWarning, "guest_policy_ignored",
        {{"guest", guest.names.name}, {"reason", complaint}});
  schedule(guest);
  co_return true;
}

Guest& GuestWatch::arrive(const std::string& uuid, const std::string& name) {
  const auto [place, added] = guests_.try_emplace(uuid, judge::guest::Names{name, uuid, {}},
                                                  config_->policy, tools_.runtime.now());
  Guest& guest = place->second;
  if (added) {
    if (auto before = alarms_of_gone_.extract(uuid); before)
      guest.machine.recall_alarms(std::move(before.mapped()));
    schedule(guest);
    log(LogLevel::kInfo, "guest_found", {{"guest", name}, {"uuid", uuid}});
  }
  return guest;
}

void GuestWatch::leave(const std::string& uuid) {
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) return;
  std::vector<std::string> nodes = {serve::guest_node(found->second.names.name),
                                    serve::guest_inside_node(found->second.names.name)};
  log(LogLevel::kInfo, "guest_gone", {{"guest", found->second.names.name}, {"uuid", uuid}});
  tools_.scheduler.remove(look_of(found->first));
  keep_alarms(found->second);
  const judge::ThingId target{judge::guest::kGuestKind, found->second.names.name};
  guests_.erase(found);
  show_all(std::move(nodes));
  tell_of_gone();
  tools_.plans.forget(target);
}

/// Whoever ended it, we ourselves perhaps, because it hung: that it was lost counts when it begins
/// again.
void GuestWatch::keep_alarms(const Guest& guest) {
  const std::string& uuid = guest.names.uuid;
  std::vector<TimePoint> alarms = guest.machine.recent_alarms(tools_.runtime.now());
  std::optional<std::string> record;
  if (!alarms.empty() && alarms_of_gone_.size() < kMostGone) {
    const store::ClockPair clock{tools_.runtime.now(), tools_.runtime.wall_now()};
    store::GuestRecord gone{.names = guest.names, .machine = {.alarms = alarms}};
    record = store::encode(gone, clock);
    alarms_of_gone_[uuid] = std::move(alarms);
  }
  tools_.records.put(store::guest_key(tools_.node, uuid), std::move(record));
}

/// A record without a process is of one that was ended.
void GuestWatch::recall_gone(store::GuestRecord record) {
  Guest guest(record.names, config_->policy, tools_.runtime.now());
  guest.machine.recall_alarms(std::move(record.machine.alarms));
  keep_alarms(guest);
}

/// Each has its own fixed place in the interval, so that they are spread.
void GuestWatch::schedule(Guest& guest) {
  const judge::guest::Policy& policy = guest.machine.policy();
  if (std::exchange(guest.scheduled, policy.interval) == policy.interval) return;
  const auto round = [this, uuid = guest.names.uuid](Deadline, Duration) { return look_at(uuid); };
  const Result<void> added = tools_.scheduler.add(
      {look_of(guest.names.uuid), policy.interval, std::min(policy.timeout, policy.interval), 0},
      round);
  if (!added) log(LogLevel::kError, "guest_not_scheduled", {{"reason", added.error().describe()}});
}

void GuestWatch::maintain(Guest& guest) const {
  const bool host = tools_.recoverer.maintenance && tools_.recoverer.maintenance();
  guest.maintain(host, tools_.runtime.wall_now());
}

void GuestWatch::judge(Guest& guest) {
  const TimePoint now = tools_.runtime.now();
  maintain(guest);
  const std::shared_ptr<serve::GuestView> view = guest.view(now);
  write_down(guest);
  const bool fresh = guest.shown && now - guest.shown->judged < kShownFor;
  if (fresh && guest.shown->says_as(*view)) return;
  guest.shown = view;
  if (guest.machine.state() == judge::State::kHealthy)
    tools_.incidents.judged_good(serve::guest_node(guest.names.name));
  tools_.board.judged(view, now);
}

void GuestWatch::write_down(Guest& guest) {
  store::GuestRecord record = guest.record();
  if (guest.written == record) return;
  const store::ClockPair clock{tools_.runtime.now(), tools_.runtime.wall_now()};
  tools_.records.put(store::guest_key(tools_.node, guest.names.uuid), encode(record, clock));
  guest.written = std::move(record);
}

/// The things of the board and of the graph of incidents.
void GuestWatch::show_all(std::vector<std::string> gone) {
  std::vector<std::shared_ptr<const serve::ThingView>> shown;
  std::vector<incidents::DiscoveredThing> things;
  for (auto& [uuid, guest] : guests_) {
    if (!guest.shown || guest.shown->id.name != guest.names.name) {
      auto view = std::make_shared<serve::GuestView>(guest.names.name);
      view->uuid = uuid;
      view->judged = view->since = tools_.runtime.now();
      guest.shown = view;
    }
    shown.push_back(guest.shown);
    // By the rules of Masakari each guest is told of alone, however many they are.
    if (config_->policy.compat) continue;
    // Nothing above it: while libvirt fails nothing is counted, so that no guest fails for that.
    things.push_back({serve::guest_node(guest.names.name), {}});
    // What is wrong inside may last for weeks, and the guest may die and come back meanwhile: that
    // is another incident.
    things.push_back({serve::guest_inside_node(guest.names.name), {}, true});
  }
  tools_.board.show(judge::guest::kGuestKind, std::move(shown));
  tools_.incidents.discovered(judge::guest::kGuestKind, std::move(things), std::move(gone));
}

}  // namespace wardmote::agent
