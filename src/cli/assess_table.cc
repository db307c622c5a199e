#include "cli/assess_table.h"

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Command assess_ovn() {
  return {
      .name = "ovn",
      .summary = "look at the members of an OVN raft cluster and judge them; needs no agent",
      .description =
          "One look shows what contradicts itself at once. What must stand for a while before it "
          "is a finding (a member that is down, no leader) needs --for: twice the election timer "
          "and a few seconds are enough for nearly all of them. What was seen and was not "
          "confirmed "
          "at the end is a warning.",
      .options =
          {{.name = "db",
            .value = "DB",
            .help =
                "OVN_Northbound, OVN_Southbound, OVN_IC_Northbound, OVN_IC_Southbound or another "
                "clustered database",
            .required = true},
           {.name = "member",
            .value = "NAME=CTL[,OVSDB]",
            .help =
                "a member: its control socket, and its OVSDB endpoint if it is to be asked too; of "
                "one on another host tcp:HOST:PORT alone",
            .required = true,
            .repeats = true},
           {.name = "expect",
            .value = "ADDRESS",
            .help = "a raft address that the cluster should have",
            .repeats = true},
           {.name = "replicas",
            .value = "N",
            .help = "voters that it should have (default: as many as --expect)"},
           {.name = "for", .value = "DURATION", .help = "how long to look (default: one look)"},
           {.name = "every", .value = "DURATION", .help = "time between looks (default: 1s)"},
           {.name = "timeout",
            .value = "DURATION",
            .help = "the end of each look (default: 900ms)"},
           {.name = "record",
            .value = "FILE",
            .help = "write all that was seen into a new file, for replay",
            .completes = Completes::kFiles},
           output_option(),
           no_color_option()},
      .examples = {{"wardmote assess ovn --db OVN_Northbound --member "
                    "ctl-1=/run/ovn/ovnnb_db.ctl,unix:/run/ovn/ovnnb_db.sock",
                    "one look at the member on this machine"},
                   {"wardmote assess ovn --db OVN_Southbound --member a=/tmp/a.ctl b=/tmp/b.ctl "
                    "c=/tmp/c.ctl --for 20s -o json",
                    "three members for twenty seconds, as JSON"},
                   {"wardmote assess ovn --db OVN_Northbound --member a=/tmp/a.ctl b=/tmp/b.ctl "
                    "--for 20s --record seen.jsonl",
                    "and keep what was seen"}},
      .run = run_assess_ovn};
}

Command assess_bgp() {
  return {
      .name = "bgp",
      .summary =
          "look at the BGP daemons of several nodes and compare what they say; needs no agent",
      .description =
          "Prints a matrix, in which a row is what one node says of the others, and what is wrong "
          "between which two: a session that one end calls established, a missing peer, a wrong "
          "AS, "
          "refusals told from silence, passwords that seem to differ. A daemon that is down is "
          "told "
          "once, and its sessions are not.",
      .options = {{.name = "member",
                   .value = "NAME=SOCKET[,ADDRESS]",
                   .help = "a node: the control socket of its BIRD, or the vty socket of its bgpd "
                           "(.vty), and addresses by which others may know it",
                   .required = true,
                   .repeats = true},
                  {.name = "sparse",
                   .value = "",
                   .help = "not every node needs a session with every other"},
                  {.name = "timeout",
                   .value = "DURATION",
                   .help = "the end of the look (default: 2s)"},
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
          .summary = "compare the members of a cluster; needs no agent",
          .commands = {assess_ovn(), assess_bgp()}};
}

Command replay() {
  return {.name = "replay",
          .summary = "judge recorded evidence again; needs no agent",
          .description =
              "Prints what `assess ovn --record` printed when it wrote the file: the same evidence "
              "gives the same verdict, byte for byte. A newer version may judge better. Ends with "
              "65 when the file is no evidence.",
          .arguments = {{.name = "FILE",
                         .help = "what `assess ovn --record` wrote",
                         .completes = Completes::kFiles}},
          .options = {output_option(), no_color_option()},
          .examples = {{"wardmote replay seen.jsonl", "the verdict at its end"},
                       {"wardmote replay seen.jsonl -o json", "for a script"}},
          .run = run_replay};
}

}  // namespace wardmote::cli
