// One look at one guest: a ping, and while it is silent, its counters.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/guests/guest.h"
#include "agent/guests/guest_watch.h"
#include "agent/scheduler.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/qga.h"
#include "judge/guest/facts.h"
#include "judge/outcome.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {
namespace {

using judge::guest::Ping;
using runtime::AgentAnswer;
using runtime::Deadline;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

/// Whether libvirt itself says that nobody answered, it says so a little after its timeout.
constexpr Duration kSlack = 200ms;
constexpr Duration kKnock = 1s;
constexpr Duration kCount = 1s;
constexpr Duration kLeastProof = 20ms;
constexpr Duration kMostProof = 250ms;
/// Of libvirt with an agent that hangs, before it looks at the timeout of a command.
constexpr Duration kPatience = 5s;
/// libvirt itself gives up after half a minute, and is asked anew.
constexpr Duration kLongestHeld = 2min;
/// For the longest timeout that is common.
constexpr std::size_t kMostProofs = 256;

/// Counts as long as it lives, however that ends.
class CountedIn {
 public:
  explicit CountedIn(std::size_t& count) : count_(++count) {}
  CountedIn(const CountedIn&) = delete;
  CountedIn& operator=(const CountedIn&) = delete;
  ~CountedIn() { --count_; }

 private:
  std::size_t& count_;
};

Ping ping_of(const AgentAnswer& answer) {
  switch (answer.kind) {
    case AgentAnswer::Kind::kReply: return Ping::kAnswered;
    case AgentAnswer::Kind::kSilent: return Ping::kSilent;
    case AgentAnswer::Kind::kDisconnected: return Ping::kDisconnected;
    case AgentAnswer::Kind::kNotRunning:
    case AgentAnswer::Kind::kGone: return Ping::kNotRunning;
    case AgentAnswer::Kind::kBusy: return Ping::kBusy;
    case AgentAnswer::Kind::kNoChannel: return Ping::kUnknown;
  }
  return Ping::kUnknown;
}

/// Whether somebody else holds the agent: a command of ours is under way for longer than libvirt
/// waits for an agent, so it waits for its turn, as behind a backup that freezes file systems. One
/// who holds it for longer than anybody should is no excuse any more.
enum class Held : std::uint8_t { kNot, kByOthers, kTooLong };

Held held_since(const Guest& guest, TimePoint now) {
  // The original counts it, too.
  if (!guest.unanswered || guest.machine.policy().compat) return Held::kNot;
  const Duration age = now - *guest.unanswered;
  if (age <= kPatience + guest.machine.policy().timeout + kSlack) return Held::kNot;
  return age <= kLongestHeld ? Held::kByOthers : Held::kTooLong;
}

/// What is known of libvirt when a ping had no answer in time.
struct Silence {
  bool anew = false;   ///< it took the whole timeout, so the agent was asked
  bool early = false;  ///< it answered others early enough
  bool alive = false;  ///< it answers now
};

/// Keeps since when the guest is silent.
Ping ping_of_silent(Guest& guest, TimePoint begun, Silence silence) {
  if (silence.anew) guest.unanswered = begun;
  const Held held = silence.anew ? Held::kNot : held_since(guest, begun);
  if (held == Held::kByOthers) return Ping::kBusy;
  const bool to_blame = silence.early || held == Held::kTooLong;
  return to_blame && silence.alive ? Ping::kSilent : Ping::kUnknown;
}

}  // namespace

Task<void> GuestWatch::look_at(std::string uuid) {
  const auto known = guests_.find(uuid);
  if (known == guests_.end()) co_return;
  if (unreachable_ || !hypervisor_) {
    known->second.machine.pinged(Ping::kUnknown, tools_.runtime.now());
  } else if (known->second.machine.asks(tools_.runtime.now())) {
    const TimePoint sent = tools_.runtime.now();
    const Ping seen = co_await ping(uuid);
    if (seen != Ping::kAnswered && !unreachable_ && hypervisor_) {
      const auto silent = guests_.find(uuid);
      const bool counts = silent != guests_.end() && silent->second.machine.wants_counters(seen);
      const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
      if (counts) co_await count(hypervisor, uuid);
    }
    const auto found = guests_.find(uuid);
    if (found == guests_.end()) co_return;
    if (seen == Ping::kAnswered) found->second.cpu.reset();
    found->second.machine.pinged(seen, tools_.runtime.now(), sent);
    if (seen == Ping::kAnswered && hypervisor_) co_await look_inside(uuid);
  }
  const auto found = guests_.find(uuid);
  if (found != guests_.end()) judge(found->second);
}

Task<Ping> GuestWatch::ping(std::string uuid) {
  const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
  const TimePoint begun = tools_.runtime.now();
  const Guest& asked = guests_.at(uuid);
  const Duration timeout = asked.machine.policy().timeout;
  const Duration interval = asked.machine.policy().interval;
  const auto epoch = asked.epoch;
  // Who did not answer last time must not hold up those who do.
  const auto lane = asked.machine.failures() > 0 || asked.machine.booting()
                        ? Hypervisor::Lane::kSlow
                        : Hypervisor::Lane::kFast;
  const Deadline deadline{begun + timeout + kSlack};
  std::string command(codec::kGuestPing);
  const CountedIn counted_in(asking_);
  const Result<AgentAnswer> answer =
      co_await hypervisor->ask_agent(uuid, std::move(command), timeout, lane, deadline);
  Ping seen = Ping::kUnknown;
  if (answer) {
    seen = ping_of(*answer);
  } else if (answer.error().code == Errc::kTimeout) {
    // Its timeout does not bound what libvirt does. If it answered others early enough, and does
    // now, the guest is to blame. One whose last ping is still under way is not asked anew.
    const bool anew = tools_.runtime.now() - begun >= timeout;
    const TimePoint from = anew ? begun : begun - interval / 2;
    const TimePoint to = anew ? begun + timeout * 3 / 4 : begun;
    const bool early = answered_between(from, to);
    const bool alive = co_await answers(hypervisor);
    const auto silent = guests_.find(uuid);
    if (silent != guests_.end())
      seen = ping_of_silent(silent->second, begun, {.anew = anew, .early = early, .alive = alive});
  }
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) co_return Ping::kUnknown;
  Guest& guest = found->second;
  if (answer && answer->kind == AgentAnswer::Kind::kNoChannel)
    guest.machine.agent(judge::guest::Channel::kNone, tools_.runtime.now());
  if (seen == Ping::kAnswered) {
    guest.ping = tools_.runtime.now() - begun;
    co_return seen;
  }
  // It was paused, rebooted or connected meanwhile: the ping says nothing of what it is now.
  if (guest.epoch != epoch) co_return Ping::kUnknown;
  const bool bad = seen == Ping::kSilent || seen == Ping::kDisconnected;
  const bool ours = bad && tools_.scheduler.voids(begun, {judge::ReasonCode::kHung, {}});
  co_return ours ? Ping::kUnknown : seen;
}

Task<bool> GuestWatch::answers(std::shared_ptr<Hypervisor> hypervisor) {
  const Deadline deadline = tools_.runtime.deadline_in(kKnock);
  const Result<void> knocked = co_await hypervisor->knock(deadline);
  co_return knocked.has_value();
}

/// Asks the hypervisor itself while agents are asked through it: what it does not answer in that
/// time says nothing of a guest.
Task<void> GuestWatch::prove(std::shared_ptr<Hypervisor> hypervisor) {
  for (;;) {
    const Duration pause =
        std::clamp<Duration>(config_->policy.timeout / 5, kLeastProof, kMostProof);
    const TimePoint next = tools_.runtime.now() + pause;
    co_await tools_.runtime.sleep_until(next);
    if (asking_ == 0 || unreachable_) continue;
    const TimePoint begun = tools_.runtime.now();
    const bool alive = co_await answers(hypervisor);
    if (alive) proofs_.emplace_back(begun, tools_.runtime.now());
    if (proofs_.size() > kMostProofs) proofs_.pop_front();
  }
}

bool GuestWatch::answered_between(TimePoint from, TimePoint to) const {
  return std::ranges::any_of(
      proofs_, [&](const auto& proof) { return proof.first >= from && proof.second <= to; });
}

Task<void> GuestWatch::count(std::shared_ptr<Hypervisor> hypervisor, std::string uuid) {
  // The counters of its disks only from a QEMU that is seen to run.
  const std::optional<Duration> before = guests_.at(uuid).cpu;
  Deadline deadline = tools_.runtime.deadline_in(kCount);
  auto counted = co_await hypervisor->counts(uuid, false, deadline);
  const bool runs = counted && counted->cpu && before && *counted->cpu > *before;
  if (runs) {
    deadline = tools_.runtime.deadline_in(kCount);
    auto all = co_await hypervisor->counts(uuid, true, deadline);
    if (all) counted = std::move(all);
  }
  const auto found = guests_.find(uuid);
  if (found == guests_.end() || !counted) co_return;
  found->second.cpu = counted->cpu;
  found->second.machine.counted({.at = tools_.runtime.now(),
                                 .cpu = counted->cpu,
                                 .disk_requests = counted->disk_requests,
                                 .sent_packets = counted->sent_packets});
}

}  // namespace wardmote::agent
