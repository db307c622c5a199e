#include "observe/guests/inside.h"

#include <string_view>
#include <vector>

#include "base/time.h"
#include "codec/qga.h"
#include "judge/guest/inside.h"

namespace wardmote::observe::guests {

using judge::guest::FileSystem;
using judge::guest::Inquiry;
using judge::guest::InsidePolicy;
using judge::guest::InsideWatch;

namespace {

void take_clock(InsideWatch& inside, const InsidePolicy& policy, const Asked& asked,
                std::string_view reply) {
  const auto time = codec::parse_guest_time(reply);
  if (!time) return;
  // The agent looked at its clock somewhere between the question and the answer.
  const Duration half = (asked.ended - asked.begun) / 2;
  const Duration host = asked.ended_wall.time_since_epoch() - half;
  inside.clock(*time - host, half, policy, asked.ended);
}

}  // namespace

std::string_view command_of(Inquiry inquiry) noexcept {
  switch (inquiry) {
    case Inquiry::kFreeze: return codec::kGuestFreezeStatus;
    case Inquiry::kClock: return codec::kGuestGetTime;
    case Inquiry::kFileSystems: return codec::kGuestGetFsInfo;
  }
  return codec::kGuestPing;
}

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

}  // namespace wardmote::observe::guests
