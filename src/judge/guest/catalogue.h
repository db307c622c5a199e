#pragma once
// The catalogue rows of guests; judge/catalogue.cc appends them to all others. A code that begins
// with GUEST_ says that the guest itself is lost, so that who recovers guests may match GUEST_*.

#include <array>
#include <chrono>

#include "judge/finding.h"

namespace wardmote::judge::guest {

/// A shutdown ends the agent long before it ends the guest.
inline constexpr Window kAgentMissed{.fixed = std::chrono::seconds(30)};

/// In the order of their codes. The windows of silence are the guest's own policy (machine.h), so
/// there is none here.
inline constexpr auto kCatalogue = std::to_array<CodeInfo>({
    {Code::kGuestPanic,
     "GUEST_PANIC",
     Severity::kCritical,
     {},
     {},
     "The kernel of a guest panicked.",
     "the hypervisor's event CRASHED, or its state 'crashed'",
     "Save a dump of its memory if you need one, then restart the guest."},
    {Code::kGuestDied,
     "GUEST_DIED",
     Severity::kCritical,
     {},
     {},
     "The QEMU process of a guest ended, and nobody asked for it.",
     "the hypervisor's event STOPPED with the detail 'failed' or 'crashed'",
     "Read the guest's log in /var/log/libvirt/qemu and the kernel's log, then start the guest."},
    {Code::kGuestSpinning,
     "GUEST_SPINNING",
     Severity::kCritical,
     {},
     {},
     "A guest does not answer, does no I/O and uses up a CPU.",
     "its agent's silence, and the CPU time, disk requests and sent packets since",
     "Look at its console: a kernel that panicked in a loop, or a lock-up. Restart the guest."},
    {Code::kGuestIdleHung,
     "GUEST_IDLE_HUNG",
     Severity::kCritical,
     {},
     {},
     "A guest does not answer, does no I/O and uses hardly any CPU.",
     "its agent's silence, and the CPU time, disk requests and sent packets since",
     "Look at its console before you restart it: an idle guest whose agent alone hangs looks the "
     "same."},
    {Code::kGuestBootStuck,
     "GUEST_BOOT_STUCK",
     Severity::kCritical,
     {},
     {},
     "A guest that was heard before began to boot, and was not heard until the boot deadline.",
     "the hypervisor's events STARTED and REBOOT, and the agent's silence since",
     "Look at its console: a file system check, a boot loader that waits, a kernel that does not "
     "start."},
    {Code::kGuestNoAnswer,
     "GUEST_NO_ANSWER",
     Severity::kCritical,
     {},
     {},
     "A guest does not answer, and nothing else is known of it.",
     "its agent's silence",
     "Look at its console. Without counters nobody can tell a dead guest from a dead agent."},
    {Code::kQemuStuck,
     "QEMU_STUCK",
     Severity::kCritical,
     {},
     {},
     "The QEMU process of a guest does not run: the host is to blame, not the guest.",
     "the agent's silence, and a CPU time that does not grow at all",
     "Look at the process on the host: stopped by a signal, or in state D on storage that hangs. A "
     "restart of the guest would hang, too."},
    {Code::kHostStorage,
     "HOST_STORAGE",
     Severity::kCritical,
     {},
     {},
     "QEMU paused a guest, because its disk failed or is full.",
     "the hypervisor's state 'paused' with the reason 'I/O error'",
     "Make room or repair the storage, then resume the guest with 'virsh resume'."},
    {Code::kAgentStuck,
     "AGENT_STUCK",
     Severity::kWarning,
     {},
     {},
     "A guest is alive, and its agent does not answer.",
     "the agent's silence, and disk requests or sent packets since",
     "Restart qemu-guest-agent in the guest. A frozen file system (a backup that died) looks the "
     "same."},
    {Code::kAgentDown,
     "AGENT_DOWN",
     Severity::kWarning,
     kAgentMissed,
     {},
     "A guest runs, and no agent has its port open any more.",
     "the hypervisor's event AGENT_LIFECYCLE, or the state of the channel",
     "Start qemu-guest-agent in the guest."},
    {Code::kAgentNeverAnswered,
     "AGENT_NEVER_ANSWERED",
     Severity::kInfo,
     {},
     {},
     "A guest has a channel for an agent, and no agent was ever heard.",
     "the agent's silence since the guest was first seen, for longer than the boot deadline",
     "Install qemu-guest-agent in the guest, or say that it is not watched."},
});

}  // namespace wardmote::judge::guest
