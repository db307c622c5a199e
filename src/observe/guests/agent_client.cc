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
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::observe::guests {

using runtime::AgentAnswer;
using runtime::Deadline;
using runtime::GuestCounts;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// Whether libvirt itself says that nobody answered, it says so a little after its timeout.
constexpr Duration kSlack = 200ms;
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

}  // namespace

Task<PingAnswer> AgentClient::ping(std::shared_ptr<Hypervisor> hypervisor, PingOrder order) {
  const TimePoint begun = runtime_.now();
  const Deadline deadline{begun + order.timeout + kSlack};
  std::string command(codec::kGuestPing);
  const CountedIn counted_in(asking_);
  const Result<AgentAnswer> answer = co_await hypervisor->ask_agent(
      order.uuid, std::move(command), order.timeout, order.lane, deadline);
  if (answer) co_return PingAnswer{.kind = answer->kind, .silence = {}};
  if (answer.error().code != Errc::kTimeout) co_return PingAnswer{};
  // If the hypervisor answered others early enough, and does now, the guest is to blame. One whose
  // last ping is still under way is not asked anew.
  const bool anew = runtime_.now() - begun >= order.timeout;
  const TimePoint from = anew ? begun : begun - order.interval / 2;
  const TimePoint to = anew ? begun + order.timeout * 3 / 4 : begun;
  const bool early = answered_between(from, to);
  const bool alive = co_await answers(hypervisor);
  co_return PingAnswer{.kind = {},
                       .silence = Silence{.anew = anew, .early = early, .alive = alive}};
}

Task<bool> AgentClient::answers(std::shared_ptr<Hypervisor> hypervisor) {
  const Deadline deadline = runtime_.deadline_in(kKnock);
  const Result<void> knocked = co_await hypervisor->knock(deadline);
  co_return knocked.has_value();
}

Task<void> AgentClient::prove(std::shared_ptr<Hypervisor> hypervisor) {
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
