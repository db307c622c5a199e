#include "sim/fake_hypervisor.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/qga.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::sim {

using runtime::AgentAnswer;
using runtime::AgentOrder;
using runtime::Deadline;
using runtime::GuestCounts;
using runtime::GuestEntry;
using runtime::GuestStanding;
using runtime::HypervisorEvent;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kAnswersIn = 3ms;
/// For an agent that somebody else's command holds (qemu_domainjob.c: QEMU_JOB_WAIT_TIME).
constexpr Duration kWaitsForTurn = 30s;

constexpr std::string_view kDescription =
    "<domain type='qemu'{}><name>{}</name><uuid>{}</uuid><metadata>{}</metadata><vcpu>1</vcpu>"
    "<devices>{}</devices></domain>";

}  // namespace

FakeHost::Guest& FakeHost::start(const std::string& uuid, const std::string& name) {
  Guest begun{
      .name = name, .process = ++processes_, .metadata = {}, .job = {}, .counted = clock_.now()};
  if (const Guest* const before = off(uuid)) begun.metadata = before->metadata;
  off_.erase(uuid);
  guests_[uuid] = std::move(begun);
  tell_of(uuid, HypervisorEvent::Agent{false});
  tell_of(uuid, HypervisorEvent::Lifecycle{4, 0});
  tell_of(uuid, HypervisorEvent::Lifecycle{2, 0});
  tell_of(uuid, HypervisorEvent::Agent{true});
  return guests_[uuid];
}

void FakeHost::stop(const std::string& uuid, int detail) {
  tell_of(uuid, HypervisorEvent::Lifecycle{5, detail});
  Guest ended = std::move(guests_.at(uuid));
  guests_.erase(uuid);
  if (!ended.persistent) return;
  // VIR_DOMAIN_EVENT_STOPPED_FAILED is 5, and VIR_DOMAIN_SHUTOFF_CRASHED 3.
  ended.run = 5;
  ended.reason = detail == 5 ? 3 : detail + 1;
  off_[uuid] = std::move(ended);
}

const FakeHost::Guest* FakeHost::off(const std::string& uuid) const {
  const auto found = off_.find(uuid);
  return found == off_.end() ? nullptr : &found->second;
}

void FakeHost::pause(const std::string& uuid, int suspended, int reason) {
  count(at(uuid));
  at(uuid).run = 3;
  at(uuid).reason = reason;
  tell_of(uuid, HypervisorEvent::Lifecycle{3, suspended});
}

void FakeHost::resume(const std::string& uuid) {
  count(at(uuid));
  at(uuid).run = 1;
  at(uuid).reason = 1;
  tell_of(uuid, HypervisorEvent::Lifecycle{4, 0});
}

void FakeHost::reboot(const std::string& uuid) {
  at(uuid).agent = Agent::kClosed;
  tell_of(uuid, HypervisorEvent::Reboot{});
  tell_of(uuid, HypervisorEvent::Agent{false});
  tell_of(uuid, HypervisorEvent::Reboot{});
}

void FakeHost::set_agent(const std::string& uuid, Agent agent) {
  const bool open = at(uuid).agent != Agent::kClosed;
  at(uuid).agent = agent;
  const bool opens = agent != Agent::kClosed;
  const bool held = clock_.now() < at(uuid).held_until;
  if (agent != Agent::kHangs && !held) {
    for (FakeHypervisor* const one : connected_) one->end_call_of(uuid);
  }
  if (open != opens) tell_of(uuid, HypervisorEvent::Agent{opens});
}

void FakeHost::set_activity(const std::string& uuid, double cpu_share, double requests_per_second) {
  count(at(uuid));
  at(uuid).cpu_share = cpu_share;
  at(uuid).requests_per_second = requests_per_second;
}

void FakeHost::set_daemon(Daemon daemon) {
  const bool gone = daemon_ == Daemon::kGone;
  daemon_ = daemon;
  if (daemon == Daemon::kGone && !gone) {
    // Whoever held an agent did so by a command of this daemon, and all commands end with it.
    for (auto& [uuid, guest] : guests_) {
      guest.held_until = std::min(guest.held_until, clock_.now());
      for (FakeHypervisor* const one : connected_) one->end_call_of(uuid);
    }
    tell(
        {.uuid = {}, .name = {}, .at = {}, .what = HypervisorEvent::Lost{{Errc::kClosed, "fake"}}});
  }
  if (gone && daemon == Daemon::kAnswers)
    tell({.uuid = {}, .name = {}, .at = {}, .what = HypervisorEvent::Connected{}});
}

void FakeHost::tell(HypervisorEvent event) {
  event.at = clock_.now();
  for (FakeHypervisor* const one : connected_) one->hear(event);
}

void FakeHost::tell_of(const std::string& uuid, decltype(HypervisorEvent::what) what) {
  // What happens while nobody is connected is lost.
  if (daemon_ != Daemon::kAnswers) return;
  tell({.uuid = uuid, .name = guests_.at(uuid).name, .at = {}, .what = std::move(what)});
}

void FakeHost::count(Guest& guest) const {
  const double seconds = std::chrono::duration<double>(clock_.now() - guest.counted).count();
  guest.counted = clock_.now();
  if (guest.run != 1) return;
  guest.cpu += Duration(static_cast<Duration::rep>(seconds * guest.cpu_share * 1e9));
  guest.requests += seconds * guest.requests_per_second;
}

std::string FakeHost::reply_of(const Guest& guest, const std::string& command) const {
  if (command == codec::kGuestPing) return R"({"return":{}})";
  if (command == codec::kGuestFreezeStatus)
    return guest.frozen ? R"({"return":"frozen"})" : R"({"return":"thawed"})";
  if (guest.frozen)
    return "internal error: unable to execute QEMU agent command 'x': the agent is in frozen state";
  if (command == codec::kGuestGetTime) {
    const Duration time = clock_.wall_now().time_since_epoch() + guest.clock_ahead;
    return fmt::format(R"({{"return":{}}})", time.count());
  }
  return fmt::format(
      R"({{"return":[{{"name":"vda1","mountpoint":"/srv","type":"ext4","used-bytes":{},)"
      R"("total-bytes":1000,"disk":[]}}]}})",
      guest.full_percent * 10);
}

FakeHypervisor::FakeHypervisor(runtime::Runtime& runtime, FakeHost& host)
    : runtime_(runtime), host_(host), ending_(runtime.executor()), changed_(runtime.executor()) {}

FakeHypervisor::~FakeHypervisor() {
  host_.connected_.erase(this);
}

void FakeHypervisor::start() {
  host_.connected_.insert(this);
  HypervisorEvent first{
      .uuid = {}, .name = {}, .at = runtime_.now(), .what = HypervisorEvent::Connected{}};
  if (host_.daemon_ != FakeHost::Daemon::kAnswers)
    first.what = HypervisorEvent::Lost{{Errc::kUnreachable, "fake"}};
  hear(std::move(first));
}

Task<void> FakeHypervisor::stop() {
  host_.connected_.erase(this);
  co_await ending_.stop();
}

void FakeHypervisor::hear(HypervisorEvent event) {
  told_.push_back(std::move(event));
  changed_.notify();
}

Task<std::vector<HypervisorEvent>> FakeHypervisor::events() {
  while (told_.empty()) co_await changed_.wait();
  std::vector<HypervisorEvent> all(std::make_move_iterator(told_.begin()),
                                   std::make_move_iterator(told_.end()));
  told_.clear();
  co_return all;
}

Task<Result<void>> FakeHypervisor::reach(Deadline deadline) {
  if (host_.daemon_ == FakeHost::Daemon::kGone) co_return fail(Errc::kClosed, "fake: gone");
  // Who hangs does what was asked meanwhile as soon as it goes on.
  while (host_.daemon_ == FakeHost::Daemon::kHangs) {
    if (runtime_.now() >= deadline.at) co_return fail(Errc::kTimeout, "fake: hangs");
    co_await runtime_.sleep_until(std::min(deadline.at, runtime_.now() + 20ms));
  }
  co_await runtime_.sleep_until(runtime_.now() + kAnswersIn);
  co_return Result<void>();
}

Task<Result<std::vector<GuestEntry>>> FakeHypervisor::list(Deadline deadline) {
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return std::unexpected(reached.error());
  std::vector<GuestEntry> all;
  for (const auto& [uuid, guest] : host_.guests_)
    all.push_back({uuid, guest.name, guest.run, guest.reason, guest.process});
  co_return all;
}

Task<Result<std::string>> FakeHypervisor::describe(std::string uuid, Deadline deadline) {
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return std::unexpected(reached.error());
  const auto found = host_.guests_.find(uuid);
  const bool runs = found != host_.guests_.end();
  const FakeHost::Guest* const guest = runs ? &found->second : host_.off(uuid);
  if (guest == nullptr) co_return fail(Errc::kMissing, "fake: no domain");
  const bool closed = guest->agent == FakeHost::Agent::kClosed;
  const std::string state = closed ? " state='disconnected'" : " state='connected'";
  const std::string channel = fmt::format(
      "<channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'{}/></channel>",
      runs ? state : "");
  const std::string id = runs ? fmt::format(" id='{}'", guest->process) : "";
  co_return fmt::format(kDescription, id, guest->name, uuid, guest->metadata,
                        guest->channel ? channel : "");
}

Task<Result<void>> FakeHypervisor::knock(Deadline deadline) {
  Result<void> reached = co_await reach(deadline);
  co_return reached;
}

/// One call that waits for a place in its lane, as for a thread of a pool.
class FakeHypervisor::Place {
 public:
  Place(Crowd& crowd, std::uint64_t number) : crowd_(crowd), number_(number) {
    crowd_.waiting.push_back(number_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { std::erase(crowd_.waiting, number_); }
  /// Whether it has one now.
  [[nodiscard]] bool take(Lane lane) {
    const std::size_t most = lane == Lane::kSlow ? FakeHost::kSlowAtOnce : FakeHost::kFastAtOnce;
    if (crowd_.waiting.front() != number_ || crowd_.busy >= most) return false;
    crowd_.waiting.pop_front();
    ++crowd_.busy;
    return true;
  }

 private:
  Crowd& crowd_;
  const std::uint64_t number_;
};

Task<void> FakeHypervisor::end_call(std::string uuid, TimePoint at) {
  co_await runtime_.sleep_until(at);
  // Another one may be under way by now.
  if (under_way_[uuid] == at) end_call_of(uuid);
}

void FakeHypervisor::end_call_of(const std::string& uuid) {
  const auto left = left_.extract(uuid);
  under_way_.erase(uuid);
  if (left) left.mapped()();
}

Task<Result<AgentAnswer>> FakeHypervisor::ask_agent(AgentOrder order, Deadline begun_by) {
  if (order.command == codec::kGuestPing) {
    ++host_.pings_;
  } else {
    host_.inquiries_.emplace_back(runtime_.now(), order.uuid + order.command);
  }
  Crowd& crowd = crowds_[order.lane];
  {
    Place place(crowd, ++calls_);
    while (!place.take(order.lane)) {
      if (runtime_.now() >= begun_by.at) {
        if (order.ended) order.ended();
        co_return fail(Errc::kLimit, "fake: it did not begin");
      }
      co_await runtime_.sleep_until(std::min(begun_by.at, runtime_.now() + 20ms));
    }
  }
  const TimePoint begun = runtime_.now();
  const std::string uuid = order.uuid;
  const auto ended = [&crowd, told = order.ended] {
    --crowd.busy;
    if (told) told();
  };
  // Also of one that is cancelled.
  struct AtEnd {
    std::function<void()> call;
    explicit AtEnd(std::function<void()> to_call) : call(std::move(to_call)) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() {
      if (call) call();
    }
  } at_end(ended);
  Result<AgentAnswer> answer = co_await ask(std::move(order), begun);
  if (!answer && under_way_.contains(uuid) && runtime_.now() < under_way_[uuid]) {
    left_[uuid] = std::exchange(at_end.call, {});
    ending_.spawn("a call that goes on", end_call(uuid, under_way_[uuid]));
  }
  co_return answer;
}

Task<Result<AgentAnswer>> FakeHypervisor::ask(AgentOrder order, TimePoint begun) {
  using enum AgentAnswer::Kind;
  const Deadline deadline{begun + order.patience};
  const std::string& uuid = order.uuid;
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return std::unexpected(reached.error());
  const auto found = host_.guests_.find(uuid);
  if (found == host_.guests_.end()) co_return AgentAnswer{kGone, {}};
  if (found->second.run != 1) co_return AgentAnswer{kNotRunning, {}};
  if (!found->second.channel) co_return AgentAnswer{kNoChannel, {}};
  if (found->second.agent == FakeHost::Agent::kClosed) co_return AgentAnswer{kDisconnected, {}};
  // libvirt begins to wait for the agent when it is our turn.
  const TimePoint turn = std::max(begun, found->second.held_until);
  const bool refused = turn > begun + kWaitsForTurn;
  const TimePoint silent =
      refused ? begun + kWaitsForTurn : turn + std::max(order.timeout, host_.patience_);
  const TimePoint until = std::min(silent, deadline.at);
  // It may come to life while libvirt waits.
  for (;;) {
    const auto asked = host_.guests_.find(uuid);
    if (asked == host_.guests_.end()) co_return AgentAnswer{kGone, {}};
    const bool answers = asked->second.agent == FakeHost::Agent::kAnswers &&
                         runtime_.now() >= turn + asked->second.answers_in;
    if (answers && asked->second.run == 1)
      co_return AgentAnswer{kReply, host_.reply_of(asked->second, order.command)};
    if (asked->second.agent == FakeHost::Agent::kClosed) co_return AgentAnswer{kDisconnected, {}};
    if (runtime_.now() >= until) break;
    co_await runtime_.sleep_until(std::min(until, runtime_.now() + 50ms));
  }
  if (until < silent) {
    under_way_[uuid] = silent;
    co_return fail(Errc::kTimeout, "fake: no answer in time");
  }
  co_return AgentAnswer{refused ? kBusy : kSilent, {}};
}

Task<Result<GuestCounts>> FakeHypervisor::counts(std::string uuid, bool ask_qemu,
                                                 Deadline deadline) {
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return std::unexpected(reached.error());
  const auto found = host_.guests_.find(uuid);
  if (found == host_.guests_.end()) co_return fail(Errc::kMissing, "fake: no domain");
  host_.count(found->second);
  GuestCounts counts{.cpu = found->second.cpu, .disk_requests = {}, .sent_packets = {}};
  if (ask_qemu && found->second.cpu_share == 0) {
    // A QEMU that does not run answers nobody.
    co_await runtime_.sleep_until(deadline.at);
    co_return fail(Errc::kTimeout, "fake: its QEMU hangs");
  }
  if (ask_qemu) counts.disk_requests = static_cast<std::uint64_t>(found->second.requests);
  co_return counts;
}

Task<Result<GuestStanding>> FakeHypervisor::standing(std::string uuid, Deadline deadline) {
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return std::unexpected(reached.error());
  const auto found = host_.guests_.find(uuid);
  const bool runs = found != host_.guests_.end();
  const FakeHost::Guest* const guest = runs ? &found->second : host_.off(uuid);
  if (guest == nullptr) co_return fail(Errc::kMissing, "fake: no domain");
  co_return GuestStanding{guest->run, guest->reason, runs ? guest->process : -1, guest->persistent,
                          guest->job};
}

Task<Result<void>> FakeHypervisor::begin_act(std::string what, std::string uuid, int id,
                                             Deadline deadline) {
  const TimePoint asked = runtime_.now();
  const Result<void> reached = co_await reach(deadline);
  if (!reached) co_return reached;
  const bool late = runtime_.now() - asked > runtime::kActBeginsWithin;
  if (id >= 0 && late) co_return fail(Errc::kInvalid, "fake: too late");
  const auto found = host_.guests_.find(uuid);
  const bool runs = found != host_.guests_.end();
  if (!runs && host_.off(uuid) == nullptr) co_return fail(Errc::kMissing, "fake: no domain");
  const int process = runs ? found->second.process : -1;
  if (process != id) co_return fail(Errc::kInvalid, "fake: its id is {}", process);
  host_.acts_.push_back({runtime_.now(), std::move(what), std::move(uuid), id});
  if (host_.on_act) host_.on_act(host_.acts_.back());
  co_return Result<void>();
}

Task<Result<void>> FakeHypervisor::end_act(Deadline deadline) {
  if (!host_.acts_answered_) {
    co_await runtime_.sleep_until(deadline.at);
    co_return fail(Errc::kTimeout, "fake: nobody hears of its end");
  }
  co_await runtime_.sleep_until(runtime_.now() + host_.acts_take_);
  co_return Result<void>();
}

Task<Result<void>> FakeHypervisor::inject_nmi(std::string uuid, int id, Deadline deadline) {
  const Result<void> begun = co_await begin_act("nmi", uuid, id, deadline);
  if (!begun) co_return begun;
  Result<void> ended = co_await end_act(deadline);
  co_return ended;
}

Task<Result<void>> FakeHypervisor::destroy(std::string uuid, int id, Deadline deadline) {
  const Result<void> begun = co_await begin_act("destroy", uuid, id, deadline);
  if (!begun) co_return begun;
  host_.stop(uuid, 1);
  Result<void> ended = co_await end_act(deadline);
  co_return ended;
}

Task<Result<void>> FakeHypervisor::create(std::string uuid, Deadline deadline) {
  const Result<void> begun = co_await begin_act("create", uuid, -1, deadline);
  if (!begun) co_return begun;
  const std::string name = host_.off(uuid)->name;
  host_.start(uuid, name);
  Result<void> ended = co_await end_act(deadline);
  co_return ended;
}

}  // namespace wardmote::sim
