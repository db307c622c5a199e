#include "agent/guests/guest.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "codec/domain_xml.h"
#include "config/guest_policy.h"
#include "config/guests.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"
#include "judge/guest/maintenance.h"
#include "observe/guests/agent_channel.h"
#include "runtime/hypervisor.h"
#include "serve/guest/guest_view.h"
#include "store/guest_record.h"

namespace wardmote::agent {
namespace {

using judge::guest::Channel;
using judge::guest::Pause;
using judge::guest::Run;
using runtime::HypervisorEvent;
using namespace std::chrono_literals;

// libvirt-domain.h
constexpr int kPausedIoError = 5;
constexpr int kPausedWatchdog = 6;
constexpr int kPausedCrashed = 10;
constexpr int kStartedMigrated = 1;
constexpr int kStartedWakeup = 4;
constexpr int kSuspendedIoError = 2;
constexpr int kSuspendedWatchdog = 3;
constexpr int kIoErrorReport = 2;
constexpr int kStoppedCrashed = 2;
constexpr int kStoppedFailed = 5;
constexpr int kOffCrashed = 3;
constexpr int kOffLost = 8;  ///< libvirtd found no QEMU when it began (VIR_DOMAIN_SHUTOFF_DAEMON)

/// By the detail of the event, or the reason of the state.
Pause pause_of(int detail, int io_error, int watchdog) {
  if (detail == io_error) return Pause::kStorage;
  return detail == watchdog ? Pause::kWatchdog : Pause::kOrdered;
}

/// Takes in what happened to its process or its CPUs.
void live(Guest& guest, const HypervisorEvent::Lifecycle& told, TimePoint at) {
  judge::guest::Machine& machine = guest.machine;
  switch (told.event) {
    case kStarted:
      guest.there = true;
      if (told.detail != kStartedMigrated && told.detail != kStartedWakeup) guest.inside.forget();
      machine.started(told.detail != kStartedMigrated && told.detail != kStartedWakeup, at);
      break;
    case kSuspended:
      machine.paused(pause_of(told.detail, kSuspendedIoError, kSuspendedWatchdog), at);
      break;
    case kResumed: machine.resumed(at); break;
    case kStopped:
      guest.there = false;
      if (told.detail == kStoppedFailed || told.detail == kStoppedCrashed) machine.died(at);
      break;
    case kShutdown: machine.shutting_down(); break;
    case kPmSuspended: machine.suspended(); break;
    case kCrashed: machine.panicked(at); break;
    default: break;
  }
}

}  // namespace

void Guest::describe(const codec::DomainXml& xml, const config::Guests& all, TimePoint now) {
  complaints.clear();
  machine.set_policy(config::guest_policy(xml, all, complaints));
  const codec::NovaInstance instance = xml.nova.value_or(codec::NovaInstance());
  names = {xml.name, xml.uuid, instance.name};
  flavor = instance.flavor;
  project = instance.project;
  nova = xml.nova.has_value();
  if (xml.id >= 0) process = xml.id;
  const Channel channel = observe::guests::channel_of(xml, all.channel_path);
  // A guest that is off has a channel without a state.
  if (channel != Channel::kUnknown || machine.channel() == Channel::kNone)
    machine.agent(channel, now);
}

void Guest::found(const runtime::GuestEntry& entry, TimePoint now) {
  there = true;
  // Another process since an earlier life of the agent: it was started anew meanwhile.
  if (process >= 0 && entry.id >= 0 && entry.id != process) {
    machine.started(true, now);
    inside.forget();
  }
  process = entry.id;
  const auto run = static_cast<Run>(std::clamp(entry.run, 0, 7));
  if (run == Run::kPaused && entry.reason == kPausedCrashed)
    return machine.found(Run::kCrashed, Pause::kOrdered, now);
  machine.found(run, pause_of(entry.reason, kPausedIoError, kPausedWatchdog), now);
}

void Guest::ended(const runtime::GuestStanding& standing, TimePoint now) {
  const bool by_itself = standing.reason == kOffCrashed || standing.reason == kOffLost;
  if (standing.run == static_cast<int>(Run::kShutOff) && by_itself) machine.died(now);
}

bool Guest::hear(const HypervisorEvent& event) {
  ++epoch;
  if (const auto* const told = std::get_if<HypervisorEvent::Lifecycle>(&event.what)) {
    live(*this, *told, event.at);
    return told->event == kStarted;
  }
  if (const auto* const agent = std::get_if<HypervisorEvent::Agent>(&event.what)) {
    machine.agent(agent->connected ? Channel::kConnected : Channel::kDisconnected, event.at);
  }
  if (const auto* const fired = std::get_if<HypervisorEvent::Watchdog>(&event.what))
    machine.signs().watchdog(fired->action, event.at);
  const auto* const disk = std::get_if<HypervisorEvent::IoError>(&event.what);
  if (disk != nullptr && disk->action == kIoErrorReport)
    machine.signs().disk_error(disk->device, event.at);
  if (std::holds_alternative<HypervisorEvent::Reboot>(event.what)) {
    machine.rebooted(event.at);
    inside.forget();
  }
  if (std::holds_alternative<HypervisorEvent::Migrating>(event.what)) machine.migrating(event.at);
  if (std::holds_alternative<HypervisorEvent::JobCompleted>(event.what)) machine.migration_ended();
  return std::holds_alternative<HypervisorEvent::Changed>(event.what);
}

void Guest::maintain(bool host, WallTime now) noexcept {
  machine.maintain(host || std::ranges::any_of(machine.policy().maintenance,
                                               [&](const judge::guest::Window& window) {
                                                 return is_open(window, now);
                                               }));
}

store::GuestRecord Guest::record() const {
  return {names, process, machine.record(), inside.record(machine.policy().inside)};
}

std::shared_ptr<serve::GuestView> Guest::view(TimePoint now) {
  auto view = std::make_shared<serve::GuestView>(names.name);
  view->judged = now;
  view->uuid = names.uuid;
  view->instance = names.instance;
  view->flavor = flavor;
  view->project = project;
  view->state = machine.state();
  view->run = machine.run();
  view->channel = machine.channel();
  view->failures = machine.failures();
  view->threshold = machine.policy().threshold;
  view->booting = machine.booting();
  view->since = machine.since();
  view->last_answer = machine.last_answer();
  view->ping = ping;
  view->assessment = assess(machine, inside, names, memory, now);
  return view;
}

}  // namespace wardmote::agent
