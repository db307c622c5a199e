#include "observe/guests/standing.h"

#include <algorithm>
#include <cstdint>

#include "judge/guest/facts.h"
#include "judge/guest/restart_view.h"
#include "runtime/hypervisor.h"

namespace wardmote::observe::guests {
namespace {

using judge::guest::Ended;
using judge::guest::Run;

// libvirt-domain.h
constexpr int kPausedCrashed = 10;
enum ShutOff : std::uint8_t { kDestroyed = 2, kCrashed = 3, kFailed = 6 };

Ended ended_by(int reason) noexcept {
  if (reason == kCrashed || reason == kFailed) return Ended::kFailed;
  return reason == kDestroyed ? Ended::kDestroyed : Ended::kOrdered;
}

}  // namespace

judge::guest::Standing standing_of(const runtime::GuestStanding& said) {
  judge::guest::Standing now;
  now.run = static_cast<Run>(std::clamp(said.run, 0, 7));
  if (now.run == Run::kPaused && said.reason == kPausedCrashed) now.run = Run::kCrashed;
  // `crashed` is also the state of a guest without a process.
  if (now.run == Run::kShutOff || said.id < 0) now.ended = ended_by(said.reason);
  if (now.run == Run::kCrashed && said.id < 0) now.ended = Ended::kFailed;
  if (said.id < 0) now.run = Run::kShutOff;
  now.process = said.id;
  now.persistent = said.persistent;
  now.job = said.job;
  return now;
}

}  // namespace wardmote::observe::guests
