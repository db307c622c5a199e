#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/guest/activity.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/machine.h"

namespace wardmote::judge::guest {

/// How a guest that is off came to be off.
enum class Ended : std::uint8_t {
  kRuns,
  kFailed,     ///< its QEMU ended, and nobody asked for it
  kDestroyed,  ///< somebody, or this agent, ended its QEMU
  kOrdered,    ///< shut down, saved, migrated away
};

/// What the hypervisor says of a guest, and of what is being done to it, at one moment.
struct Standing {
  Run run = Run::kNoState;
  Ended ended = Ended::kRuns;
  int process = -1;         ///< libvirt's id of it: another one after each start; -1: it is off
  bool persistent = false;  ///< it stays defined when it ends
  std::string job;          ///< `a migration, a save or a backup`; empty: nothing is under way
  friend bool operator==(const Standing&, const Standing&) = default;
};

/// All that is to be known of a guest to restart it: what its pings and counters say, and what the
/// hypervisor says of it at this moment.
struct RestartView {
  TimePoint begun;  ///< of the look
  Names names;
  bool watched = false;  ///< it runs, or it died and is reported
  Verdict verdict = Verdict::kUnknown;
  TimePoint since;     ///< of its verdict
  int process = -1;    ///< that the verdict is of
  bool again = false;  ///< it was lost more often than its policy allows
  int failures = 0;    ///< in this life of the agent
  Channel channel = Channel::kUnknown;
  Activity activity = Activity::kUnknown;
  Duration counted{};                 ///< how long its counters were compared
  std::optional<Duration> boots_for;  ///< it was not heard since it began to boot
  std::optional<Duration> ran_ago;    ///< when a count showed last that its QEMU uses CPU time
  bool migrates = false;
  bool frozen = false;  ///< its file systems, when it was asked last
  bool held = false;    ///< somebody else's command is under way at its agent
  bool nova = false;    ///< Nova wrote its description
  Policy policy;
  std::size_t lost = 0;  ///< guests of this hypervisor that are reported as lost, with this one
  std::optional<Standing> standing;  ///< nothing: the hypervisor was not asked, or did not say
  bool gone = false;                 ///< the hypervisor has no such guest
};

/// So many guests that are lost at once are the host's failure, and restarting one of them helps
/// nobody.
inline constexpr std::size_t kLostTogether = 3;
/// So long the counters of a silent guest must say that it does nothing.
inline constexpr Duration kCountedFor = std::chrono::minutes(1);

/// Within this time, or one and a half intervals, a QEMU that runs uses CPU time.
inline constexpr Duration kRunsWithin = std::chrono::seconds(15);

/// Takes over what the agent knows by itself.
void describe(const Machine& machine, TimePoint now, RestartView& view);

/// Why the guest must not be restarted now; nothing: it is dead, and nothing speaks against it.
/// `process` is the one that is to be ended, as libvirt counts them.
std::optional<std::string> objection(const RestartView& view, int process);
/// Why nobody needs to restart it any more: it answers, was started anew, or is gone.
std::optional<std::string> came_back(const RestartView& view, int process);

}  // namespace wardmote::judge::guest
