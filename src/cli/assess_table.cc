#include "cli/assess_table.h"

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Command assess_ovn() {
  return {
      .name = "ovn",
      .summary = "probe the members of an OVN raft cluster and judge them; needs no agent",
      .description =
          "One round of probes finds contradictions only. Most findings (a member that is down, no "
          "leader) need a condition that lasts: give --for twice the election timer and a few "
          "seconds. A condition that is seen but not confirmed at the end is a warning.",
      .options =
          {{.name = "db",
            .value = "DB",
            .help =
                "OVN_Northbound, OVN_Southbound, OVN_IC_Northbound, OVN_IC_Southbound or another "
                "clustered database",
            .required = true},
           {.name = "member",
            .value = "NAME=CTL[,OVSDB]",
            .help = "a member by its control socket, its OVSDB endpoint, or both; for another host "
                    "tcp:HOST:PORT alone",
            .required = true,
            .repeats = true},
           {.name = "expect",
            .value = "ADDRESS",
            .help = "a raft address that the cluster should have",
            .repeats = true},
           {.name = "replicas",
            .value = "N",
            .help = "how many voters the cluster should have (default: as many as --expect)"},
           {.name = "for", .value = "DURATION", .help = "how long to probe (default: one round)"},
           {.name = "every", .value = "DURATION", .help = "time between two rounds (default: 1s)"},
           {.name = "timeout",
            .value = "DURATION",
            .help = "deadline of each round (default: 900ms)"},
           {.name = "record",
            .value = "FILE",
            .help = "write what the members said into a new file, for replay",
            .completes = Completes::kFiles},
           output_option(),
           no_color_option()},
      .examples = {{"wardmote assess ovn --db OVN_Northbound --member "
                    "ctl-1=/run/ovn/ovnnb_db.ctl,unix:/run/ovn/ovnnb_db.sock",
                    "one round, of the member on this machine"},
                   {"wardmote assess ovn --db OVN_Southbound --member a=/tmp/a.ctl b=/tmp/b.ctl "
                    "c=/tmp/c.ctl --for 20s -o json",
                    "three members for twenty seconds, as JSON"},
                   {"wardmote assess ovn --db OVN_Northbound --member a=/tmp/a.ctl b=/tmp/b.ctl "
                    "--for 20s --record seen.jsonl",
                    "also keep what the members said"}},
      .run = run_assess_ovn};
}

Command assess_bgp() {
  return {.name = "bgp",
          .summary = "compare what the BGP daemons of several nodes say; needs no agent",
          .description =
              "Prints a matrix, in which each row is what one node says about the others, and the "
              "faults between two nodes: sessions that only one end calls established, missing "
              "peers, wrong AS numbers, refused connections, no answer, passwords that seem to "
              "differ. A daemon that is down is one fault, and its sessions are none.",
          .options = {{.name = "member",
                       .value = "NAME=SOCKET[,ADDRESS]",
                       .help = "a node: the control socket of its BIRD, or the vty socket of its "
                               "bgpd (.vty), and addresses by which others may know the node",
                       .required = true,
                       .repeats = true},
                      {.name = "sparse",
                       .value = "",
                       .help = "not every node needs a session with every other node"},
                      {.name = "timeout",
                       .value = "DURATION",
                       .help = "deadline of the probes (default: 2s)"},
                      output_option(),
                      no_color_option()},
          .examples = {{"wardmote assess bgp --member a=/run/a/bird.ctl b=/run/b/bird.ctl "
                        "c=/run/c/bgpd.vty,10.0.0.3",
                        "two BIRDs and an FRR"}},
          .run = run_assess_bgp};
}

}  // namespace

Command assess_group() {
  return {.name = "assess",
          .summary = "compare the members of a cluster or a BGP mesh; needs no agent",
          .commands = {assess_ovn(), assess_bgp()}};
}

Command replay() {
  return {.name = "replay",
          .summary = "judge recorded evidence again; needs no agent",
          .description =
              "The same version prints the same as `assess ovn --record` did, byte for byte; a "
              "newer version may judge better. Exits with 65 when FILE is not an evidence file.",
          .arguments = {{.name = "FILE",
                         .help = "the file that `assess ovn --record` wrote",
                         .completes = Completes::kFiles}},
          .options = {output_option(), no_color_option()},
          .examples = {{"wardmote replay seen.jsonl", "the verdict at the end of the recording"},
                       {"wardmote replay seen.jsonl -o json", "for a script"}},
          .run = run_replay};
}

}  // namespace wardmote::cli
