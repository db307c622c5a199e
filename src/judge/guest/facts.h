#pragma once
// What is known of a guest from outside: its hypervisor, its agent, its counters.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/outcome.h"
#include "judge/thing.h"

namespace wardmote::judge::guest {

inline constexpr ThingKind kGuestKind("guest");

/// virDomainState, in its numbers.
enum class Run : std::uint8_t {
  kNoState,
  kRunning,
  kBlocked,
  kPaused,
  kShuttingDown,
  kShutOff,
  kCrashed,
  kSuspended,  ///< by the guest's own power management
};

/// Why it is paused: what decides whose fault that is.
enum class Pause : std::uint8_t {
  kOrdered,   ///< somebody asked for it: a person, a migration, a snapshot, a save
  kStorage,   ///< QEMU stopped it because its disk failed or is full
  kWatchdog,  ///< QEMU stopped it because nothing in it kept its watchdog from firing
};

/// The port of the guest agent, as QEMU sees it: open in the guest or not.
enum class Channel : std::uint8_t { kUnknown, kConnected, kDisconnected, kNone };

/// What came of one ping.
enum class Ping : std::uint8_t {
  kAnswered,      ///< anything that an agent says, a refusal too
  kSilent,        ///< asked, and no answer in time
  kDisconnected,  ///< nothing in the guest has the port open
  kNotRunning,    ///< the hypervisor says that it does not run
  kBusy,          ///< somebody else holds the agent: it was not asked
  kUnknown,       ///< the hypervisor did not say: it was not asked, or nobody knows
};
/// What is sampled of it: a ping that says nothing of the guest is unknown.
Outcome outcome_of(Ping ping) noexcept;

/// Counters since the guest began. Nothing where the hypervisor does not count.
struct Counters {
  TimePoint at;
  std::optional<Duration> cpu;                 ///< used by all of its CPUs and by QEMU
  std::optional<std::uint64_t> disk_requests;  ///< read, written and flushed
  std::optional<std::uint64_t> sent_packets;   ///< by the guest; what it gets says nothing of it
};

/// `running`, `paused by user`, …: virsh's words, which the original monitor uses too.
std::string_view to_string(Run run) noexcept;
/// `connected`, `disconnected`, `none`, `unknown`
std::string_view to_string(Channel channel) noexcept;

}  // namespace wardmote::judge::guest
