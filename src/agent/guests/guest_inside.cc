// One question to a guest's agent besides pings, at most one a minute.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/guests/guest.h"
#include "agent/guests/guest_watch.h"
#include "base/result.h"
#include "base/time.h"
#include "observe/guests/inside.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {
namespace {

using observe::guests::Asked;
using runtime::AgentAnswer;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

/// Not of the ping's timeout: a guest with many file systems may be slow.
constexpr Duration kTimeout = 3s;
/// As long as libvirt may wait for it: no ping must meet a command of ours that is under way.
constexpr Duration kLongest = 5s + kTimeout + 500ms;

}  // namespace

Task<void> GuestWatch::look_inside(std::string uuid) {
  const auto known = guests_.find(uuid);
  if (known == guests_.end()) co_return;
  Asked asked;
  asked.begun = tools_.runtime.now();
  const auto inquiry = known->second.inside.due(known->second.machine.policy().inside, asked.begun);
  if (!inquiry) co_return;
  asked.inquiry = *inquiry;
  const auto epoch = known->second.epoch;
  const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
  runtime::AgentOrder order{.uuid = uuid,
                            .command = std::string(observe::guests::command_of(*inquiry)),
                            .timeout = kTimeout,
                            .patience = kLongest,
                            .ended = {}};
  const Result<AgentAnswer> answer = co_await agents_.inquire(hypervisor, std::move(order));
  asked.ended = tools_.runtime.now();
  asked.ended_wall = tools_.runtime.wall_now();
  const auto found = guests_.find(uuid);
  if (found == guests_.end()) co_return;
  if (answer || answer.error().code != Errc::kLimit)
    found->second.inside.asked(*inquiry, asked.begun);
  if (found->second.epoch != epoch) co_return;
  if (!answer || answer->kind != AgentAnswer::Kind::kReply) co_return;
  Guest& guest = found->second;
  observe::guests::learn(guest.inside, guest.machine.policy().inside, asked, answer->text);
}

}  // namespace wardmote::agent
