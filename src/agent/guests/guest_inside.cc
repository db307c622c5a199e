// One question to a guest's agent besides pings, at most one a minute.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/guests/guest.h"
#include "agent/guests/guest_watch.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/qga.h"
#include "judge/guest/inside.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {
namespace {

using judge::guest::FileSystem;
using judge::guest::Inquiry;
using judge::guest::InsidePolicy;
using judge::guest::InsideWatch;
using runtime::AgentAnswer;
using runtime::Deadline;
using runtime::Hypervisor;
using runtime::Task;
using namespace std::chrono_literals;

/// Not of the ping's timeout: a guest with many file systems may be slow.
constexpr Duration kTimeout = 3s;
/// As long as libvirt may wait for it: no ping must meet a command of ours that is under way.
constexpr Duration kLongest = 5s + kTimeout + 500ms;

std::string_view command_of(Inquiry inquiry) noexcept {
  switch (inquiry) {
    case Inquiry::kFreeze: return codec::kGuestFreezeStatus;
    case Inquiry::kClock: return codec::kGuestGetTime;
    case Inquiry::kFileSystems: return codec::kGuestGetFsInfo;
  }
  return codec::kGuestPing;
}

/// What was asked, and by which clocks.
struct Asked {
  Inquiry inquiry{};
  TimePoint begun;
  TimePoint ended;
  WallTime ended_wall;
};

void take_clock(InsideWatch& inside, const InsidePolicy& policy, const Asked& asked,
                std::string_view reply) {
  const auto time = codec::parse_guest_time(reply);
  if (!time) return;
  // The agent looked at its clock somewhere between the question and the answer.
  const Duration half = (asked.ended - asked.begun) / 2;
  const Duration host = asked.ended_wall.time_since_epoch() - half;
  inside.clock(*time - host, half, policy, asked.ended);
}

/// A refusal, or what cannot be read, says nothing: an old agent does not know the question.
void learn(InsideWatch& inside, const InsidePolicy& policy, const Asked& asked,
           std::string_view reply) {
  if (asked.inquiry == Inquiry::kFreeze) {
    const auto frozen = codec::parse_freeze_status(reply);
    if (frozen) inside.frozen(*frozen, asked.ended);
  }
  if (asked.inquiry == Inquiry::kClock) take_clock(inside, policy, asked, reply);
  if (asked.inquiry == Inquiry::kFileSystems) {
    const auto all = codec::parse_fsinfo(reply);
    if (!all) return;
    std::vector<FileSystem> mounted;
    mounted.reserve(all->size());
    for (const codec::QgaFileSystem& one : *all)
      mounted.push_back({one.mountpoint, one.type, one.used, one.total});
    inside.file_systems(mounted, policy, asked.ended);
  }
}

}  // namespace

Task<void> GuestWatch::look_inside(std::string uuid) {
  const auto known = guests_.find(uuid);
  if (known == guests_.end()) co_return;
  Asked asked;
  asked.begun = tools_.runtime.now();
  const auto inquiry = known->second.inside.due(known->second.machine.policy().inside, asked.begun);
  if (!inquiry) co_return;
  asked.inquiry = *inquiry;
  known->second.inside.asked(*inquiry, asked.begun);
  const auto epoch = known->second.epoch;
  const std::shared_ptr<Hypervisor> hypervisor = hypervisor_;
  std::string command(command_of(*inquiry));
  const Deadline deadline{asked.begun + kLongest};
  const Result<AgentAnswer> answer = co_await hypervisor->ask_agent(
      uuid, std::move(command), kTimeout, Hypervisor::Lane::kSlow, deadline);
  asked.ended = tools_.runtime.now();
  asked.ended_wall = tools_.runtime.wall_now();
  const auto found = guests_.find(uuid);
  if (found == guests_.end() || found->second.epoch != epoch) co_return;
  if (!answer || answer->kind != AgentAnswer::Kind::kReply) co_return;
  Guest& guest = found->second;
  learn(guest.inside, guest.machine.policy().inside, asked, answer->text);
}

}  // namespace wardmote::agent
