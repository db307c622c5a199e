#include "cli/init/commands.h"

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Option root_option() {
  return {.name = "root",
          .value = "PATH",
          .help = "where the file system of the machine is mounted, for example in a container",
          .completes = Completes::kFiles};
}

}  // namespace

Command init() {
  return {
      .name = "init",
      .summary = "print a first configuration for this machine; needs no agent",
      .description =
          "Finds OVN databases, BIRD, FRR, Felix, and services under runit, s6, daemontools and "
          "systemd by their files, and asks each once: a database for the servers of its cluster, "
          "a BGP daemon for its sessions. Prints a configuration with comments, and changes "
          "nothing. Exits with 1 when it finds nothing.",
      .options = {root_option(),
                  {.name = "no-ask", .value = "", .help = "only look for files; ask nobody"}},
      .examples = {{"wardmote init > /etc/wardmote/wardmote.yaml", "then read the file"},
                   {"wardmote init --root /host", "in a container"}},
      .run = run_init};
}

Command look() {
  return {
      .name = "look",
      .summary = "look at this machine and say what was found; needs no agent",
      .description =
          "Finds what `wardmote init` finds, asks each once, and shows the answers. `wardmote` "
          "without a command does this where no agent has its socket. Exits with the code of the "
          "worst answer, and with 1 when it finds nothing.",
      .options = {root_option(), no_color_option()},
      .examples = {{"wardmote look", "before anything is installed"}},
      .run = run_look};
}

}  // namespace wardmote::cli
