#include "observe/guests/agent_client.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "codec/qga.h"
#include "judge/guest/facts.h"
#include "observe/guests/turns.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::guests {

using judge::guest::Ping;
using runtime::AgentAnswer;
using runtime::AgentOrder;
using runtime::Deadline;
using runtime::GuestCounts;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// Whether libvirt itself says that nobody answered, it says so a little after its timeout.
constexpr Duration kSlack = 200ms;
/// A thread, and perhaps a connection, for a call that has its turn.
constexpr Duration kBegun = 2s;
constexpr Duration kKnock = 1s;
constexpr Duration kCount = 1s;
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

/// Ends the wait for a turn, however that ends.
class Leaves {
 public:
  Leaves(runtime::Runtime& runtime, Turns& turns, std::string uuid)
      : runtime_(runtime), turns_(turns), uuid_(std::move(uuid)) {}
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;
  ~Leaves() { turns_.leave(uuid_, runtime_.now()); }

 private:
  runtime::Runtime& runtime_;
  Turns& turns_;
  const std::string uuid_;
};

}  // namespace

Ping ping_of(AgentAnswer::Kind kind) noexcept {
  switch (kind) {
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

std::shared_ptr<Turns> AgentClient::turns_of(const std::shared_ptr<Hypervisor>& hypervisor) {
  if (turns_ && served_.lock() == hypervisor) return turns_;
  served_ = hypervisor;
  turns_ = std::make_shared<Turns>(runtime_.executor());
  return turns_;
}

/// Nothing: not until then. Its place is kept.
Task<std::optional<Turns::Lane>> AgentClient::turn(std::shared_ptr<Turns> turns, Turns::Claim claim,
                                                   TimePoint until) {
  turns->wait(claim, runtime_.now());
  const Leaves leaves(runtime_, *turns, claim.uuid);
  for (;;) {
    const auto lane = turns->take(claim.uuid);
    if (lane || runtime_.now() >= until) co_return lane;
    co_await turns->changed().wait();
  }
}

Task<PingAnswer> AgentClient::ping(std::shared_ptr<Hypervisor> hypervisor, PingOrder order) {
  const CountedIn counted_in(asking_);
  const std::shared_ptr<Turns> turns = turns_of(hypervisor);
  PingAnswer answer{.kind = {}, .silence = {}, .asked = runtime_.now()};
  if (turns->asks(order.uuid)) {
    if (!turns->is_overdue(order.uuid)) co_return answer;
    PingAnswer still = co_await still_asked(hypervisor, std::move(order));
    co_return still;
  }
  const TimePoint until = answer.asked + order.interval * 3 / 4;
  Turns::Claim claim{order.uuid, order.lane, order.yields, order.interval * 2};
  const std::optional<Turns::Lane> lane = co_await turn(turns, std::move(claim), until);
  answer.asked = runtime_.now();
  if (!lane) co_return answer;
  const Duration patience = order.timeout + kSlack;
  AgentOrder asked{.uuid = order.uuid,
                   .command = std::string(codec::kGuestPing),
                   .timeout = order.timeout,
                   .patience = patience,
                   .lane = *lane,
                   .ended = [turns, uuid = order.uuid] { turns->release(uuid); }};
  const Deadline begun_by = runtime_.deadline_in(kBegun);
  const Result<AgentAnswer> said = co_await hypervisor->ask_agent(std::move(asked), begun_by);
  if (said) answer.kind = said->kind;
  if (said || said.error().code != Errc::kTimeout) co_return answer;
  turns->overdue(order.uuid);
  answer.asked = runtime_.now() - patience;
  // If the hypervisor answered others early enough, and does now, the guest is to blame.
  const bool early = answered_between(answer.asked, answer.asked + order.timeout * 3 / 4);
  const bool alive = co_await answers(hypervisor);
  answer.silence = Silence{.anew = true, .early = early, .alive = alive};
  co_return answer;
}

/// One whose last ping is still under way is not asked anew.
Task<PingAnswer> AgentClient::still_asked(std::shared_ptr<Hypervisor> hypervisor, PingOrder order) {
  const TimePoint now = runtime_.now();
  const bool early = answered_between(now - order.interval / 2, now);
  const bool alive = co_await answers(hypervisor);
  co_return PingAnswer{
      .kind = {},
      .silence = Silence{.anew = false, .early = early, .alive = alive},
      .asked = now,
  };
}

Task<Result<AgentAnswer>> AgentClient::inquire(std::shared_ptr<Hypervisor> hypervisor,
                                               AgentOrder order) {
  const std::shared_ptr<Turns> turns = turns_of(hypervisor);
  const std::optional<Turns::Lane> lane = turns->take_idle(order.uuid);
  if (!lane) co_return fail(Errc::kLimit, "libvirt: too many agents are asked at once");
  const std::string uuid = order.uuid;
  order.lane = *lane;
  order.ended = [turns, uuid] { turns->release(uuid); };
  const Deadline begun_by = runtime_.deadline_in(kBegun);
  Result<AgentAnswer> answer = co_await hypervisor->ask_agent(std::move(order), begun_by);
  if (!answer && answer.error().code == Errc::kTimeout) turns->overdue(uuid);
  co_return answer;
}

Task<bool> AgentClient::answers(std::shared_ptr<Hypervisor> hypervisor) {
  const Deadline deadline = runtime_.deadline_in(kKnock);
  const Result<void> knocked = co_await hypervisor->knock(deadline);
  co_return knocked.has_value();
}

Task<void> AgentClient::prove(std::shared_ptr<Hypervisor> hypervisor) {
  // For those whose time to wait has passed.
  if (turns_) turns_->changed().notify();
  const TimePoint begun = runtime_.now();
  const bool alive = co_await answers(hypervisor);
  if (alive) proofs_.emplace_back(begun, runtime_.now());
  if (proofs_.size() > kMostProofs) proofs_.pop_front();
}

bool AgentClient::answered_between(TimePoint from, TimePoint to) const {
  return std::ranges::any_of(
      proofs_, [&](const auto& proof) { return proof.first >= from && proof.second <= to; });
}

Task<Result<GuestCounts>> AgentClient::counts(std::shared_ptr<Hypervisor> hypervisor,
                                              std::string uuid,
                                              std::optional<Duration> cpu_before) {
  Deadline deadline = runtime_.deadline_in(kCount);
  Result<GuestCounts> counted = co_await hypervisor->counts(uuid, false, deadline);
  const bool runs = counted && counted->cpu && cpu_before && *counted->cpu > *cpu_before;
  if (runs) {
    deadline = runtime_.deadline_in(kCount);
    Result<GuestCounts> all = co_await hypervisor->counts(uuid, true, deadline);
    if (all) counted = std::move(all);
  }
  co_return counted;
}

}  // namespace wardmote::observe::guests
