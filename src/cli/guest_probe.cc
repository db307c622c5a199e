#include "cli/guest_probe.h"

#include "cli/by_agent.h"
#include "cli/command.h"

namespace wardmote::cli {

Command probe_of_guest() {
  return {.name = "qga",
          .summary = "libvirt guest: what its guest agent answers",
          .description =
              "Runs wardmoted, which must be in the same folder or in PATH. Exits with 0 when the "
              "agent of the guest answers, 2 when it does not, 3 when libvirt does not say or no "
              "such guest runs.",
          .arguments = {{.name = "URI", .help = "how libvirt calls the hypervisor: qemu:///system"},
                        {.name = "DOMAIN", .help = "the name or the UUID of the guest"}},
          .options = {{.name = "timeout",
                       .value = "DURATION",
                       .help = "how long each command waits, 100ms to 1m (default: 2s)"},
                      {.name = "output",
                       .value = "FORMAT",
                       .help = "table or json (default: table)",
                       .letter = 'o'}},
          .examples = {{"wardmote probe qga qemu:///system instance-00000001",
                        "ping, frozen file systems, clock, full file systems"}},
          .run = run_by_agent};
}

}  // namespace wardmote::cli
