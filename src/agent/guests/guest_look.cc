// One look at one guest: a ping, and while it is silent, its counters.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/archive.h"
#include "agent/guests/guest.h"
#include "agent/guests/guest_watch.h"
#include "agent/scheduler.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/guest/agent_hold.h"
#include "judge/guest/facts.h"
#include "judge/outcome.h"
#include "observe/guests/agent_client.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {
namespace {

using Hold = judge::guest::AgentHold::State;
using judge::guest::Ping;
using observe::guests::PingAnswer;
using observe::guests::PingOrder;
using observe::guests::Silence;
using runtime::AgentAnswer;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

constexpr Duration kLeastProof = 20ms;
constexpr Duration kMostProof = 250ms;

/// Keeps since when the guest is silent.
Ping ping_of_silent(Guest& guest, Silence silence) {
  if (silence.anew) {
    guest.hold.asked(guest.asked, silence.early && silence.alive);
  } else {
    guest.hold.still_asked(guest.asked, guest.machine.policy().timeout);
  }
  // The original counts it, too.
  const auto hold = guest.machine.policy().compat ? Hold::kFree : guest.hold.state(guest.asked);
  if (hold == Hold::kHeld) return Ping::kBusy;
  const bool to_blame = silence.early || hold == Hold::kTooLong;
  return to_blame && silence.alive ? Ping::kSilent : Ping::kUnknown;
}

}  // namespace

Task<void> GuestWatch::look_at(std::string uuid) {
  const auto known = guests_.find(uuid);
  if (known == guests_.end()) co_return;
  const TimePoint begun = tools_.runtime.now();
  maintain(known->second);
  if (unreachable_ || !hypervisor_) {
    known->second.machine.pinged(Ping::kUnknown, tools_.runtime.now());
  } else if (known->second.machine.asks(tools_.runtime.now())) {
    const Ping seen = co_await ping(uuid);
    const TimePoint told = tools_.runtime.now();
    if (seen != Ping::kAnswered && !unreachable_ && hypervisor_) {
      const auto silent = guests_.find(uuid);
      const bool counts = silent != guests_.end() && silent->second.machine.wants_counters(seen);
      const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
      if (counts) co_await count(hypervisor, uuid);
    }
    const auto found = guests_.find(uuid);
    if (found == guests_.end()) co_return;
    if (seen == Ping::kAnswered) found->second.cpu.reset();
    const TimePoint sent = found->second.asked;
    found->second.machine.pinged(seen, tools_.runtime.now(), sent);
    // One that never had an agent does not fail.
    if (found->second.machine.ever_answered())
      tools_.archive.measure("guest/" + found->second.names.name, outcome_of(seen), told - sent);
    if (seen == Ping::kAnswered && hypervisor_) co_await look_inside(uuid);
  }
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) co_return;
  judge(found->second);
  co_await tell_plans(uuid, begun);
}

Task<Ping> GuestWatch::ping(std::string uuid) {
  const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
  const Guest& asked = guests_.at(uuid);
  const auto epoch = asked.epoch;
  PingOrder order{.uuid = uuid,
                  .timeout = asked.machine.policy().timeout,
                  .interval = asked.machine.policy().interval};
  // Who did not answer last time must not hold up those who do, nor who is known to hang, or was
  // not heard yet, those of whom nobody knows.
  order.yields = asked.machine.state() == judge::State::kReported || asked.machine.booting();
  if (asked.machine.failures() > 0 || order.yields) order.lane = Hypervisor::Lane::kSlow;
  const PingAnswer answer = co_await agents_.ping(hypervisor, std::move(order));
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) co_return Ping::kUnknown;
  Guest& guest = found->second;
  guest.asked = answer.asked;
  Ping seen = Ping::kUnknown;
  if (answer.kind) seen = observe::guests::ping_of(*answer.kind);
  if (answer.kind && seen != Ping::kBusy) guest.hold.end();
  if (answer.silence) seen = ping_of_silent(guest, *answer.silence);
  if (answer.kind == AgentAnswer::Kind::kNoChannel)
    guest.machine.agent(judge::guest::Channel::kNone, tools_.runtime.now());
  if (seen == Ping::kAnswered) {
    guest.ping = tools_.runtime.now() - answer.asked;
    co_return seen;
  }
  // It was paused, rebooted or connected meanwhile: the ping says nothing of what it is now.
  if (guest.epoch != epoch) co_return Ping::kUnknown;
  const bool bad = seen == Ping::kSilent || seen == Ping::kDisconnected;
  const bool ours = bad && tools_.scheduler.voids(answer.asked, {judge::ReasonCode::kHung, {}});
  co_return ours ? Ping::kUnknown : seen;
}

/// Asks the hypervisor itself while agents are asked through it: what it does not answer in that
/// time says nothing of a guest.
Task<void> GuestWatch::prove(std::shared_ptr<Hypervisor> hypervisor) {
  for (;;) {
    const Duration pause =
        std::clamp<Duration>(config_->policy.timeout / 5, kLeastProof, kMostProof);
    const TimePoint next = tools_.runtime.now() + pause;
    co_await tools_.runtime.sleep_until(next);
    if (!agents_.asking() || unreachable_) continue;
    co_await agents_.prove(hypervisor);
  }
}

Task<void> GuestWatch::count(std::shared_ptr<Hypervisor> hypervisor, std::string uuid) {
  const std::optional<Duration> before = guests_.at(uuid).cpu;
  const auto counted = co_await agents_.counts(hypervisor, uuid, before);
  const auto found = guests_.find(uuid);
  if (found == guests_.end() || !counted) co_return;
  const bool grew = before && counted->cpu && *counted->cpu > *before;
  if (grew) found->second.cpu_grew = tools_.runtime.now();
  found->second.cpu = counted->cpu;
  found->second.machine.counted({.at = tools_.runtime.now(),
                                 .cpu = counted->cpu,
                                 .disk_requests = counted->disk_requests,
                                 .sent_packets = counted->sent_packets});
}

}  // namespace wardmote::agent
