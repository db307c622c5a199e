#include "cli/command_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/agent_commands.h"
#include "cli/assess_table.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/config_commands.h"
#include "cli/explain/command.h"
#include "cli/failover/commands.h"
#include "cli/gate/gate_commands.h"
#include "cli/guest_probe.h"
#include "cli/incident_commands.h"
#include "cli/init/commands.h"
#include "cli/plan_commands.h"
#include "cli/probe_params.h"
#include "cli/verbs/verbs.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

/// The options of livez and readyz.
std::vector<Option> gate_options() {
  std::vector<Option> options = {
      {.name = "verbose", .value = "", .help = "show a line for each check, also when all pass"},
      {.name = "exclude", .value = "CHECK", .help = "leave this check out", .repeats = true}};
  std::ranges::move(agent_options(), std::back_inserter(options));
  return options;
}

std::string value_name(observe::ParamType type) {
  switch (type) {
    case observe::ParamType::kText: return "TEXT";
    case observe::ParamType::kInteger: return "NUMBER";
    case observe::ParamType::kDuration: return "DURATION";
    case observe::ParamType::kFlag: return "";
    case observe::ParamType::kEndpoint: return "ENDPOINT";
    case observe::ParamType::kList: return "TEXT";
  }
  return "TEXT";
}

/// `wardmote probe KIND`: the first parameter is the target, the others are options.
Command probe_command(const observe::ProbeKind& kind) {
  Command command{
      .name = std::string(kind.name), .summary = std::string(kind.summary), .run = run_probe};
  const observe::ParamSpec& target = kind.params.front();
  command.arguments = {{.name = "TARGET",
                        .help = std::string(target.help),
                        .required = target.required,
                        .completes = Completes::kFiles}};
  for (const observe::ParamSpec& param : kind.params.subspan(1)) {
    command.options.push_back({.name = cli_name(kind, param),
                               .value = value_name(param.type),
                               .help = std::string(param.help),
                               .required = param.required,
                               .repeats = param.type == observe::ParamType::kList});
  }
  command.options.push_back({.name = "timeout",
                             .value = "DURATION",
                             .help = "deadline of the whole probe (default: 2s)"});
  command.options.push_back(output_option());
  command.options.push_back(no_color_option());
  return command;
}

Command probe_group(KindsOfProbes kinds) {
  Command group{.name = "probe",
                .summary = "run one probe once; needs no agent",
                .description = "Each kind has its own --help, and a page in docs/probes."};
  if (kinds != nullptr) {
    for (const observe::ProbeKind& kind : kinds()) group.commands.push_back(probe_command(kind));
  }
  group.commands.push_back(probe_of_guest());
  group.examples = {
      {"wardmote probe ovn /run/ovn/ovnnb_db.ctl --database OVN_Northbound",
       "what one OVN database server says about its cluster"},
      {"wardmote probe ovn /run/ovn/ovnsb_db.ctl --database OVN_Southbound --ovsdb "
       "unix:/run/ovn/ovnsb_db.sock -o json",
       "ask both sockets of the server, and print JSON"},
  };
  return group;
}

Command get_group() {
  return {.name = "get",
          .summary = "list clusters, members, findings, checks, guests, incidents, plans and more",
          .commands = {
              {.name = "clusters",
               .summary = "list the OVN clusters, their members and what is wrong with them",
               .options = reading_options(),
               .examples = {{"wardmote get clusters -o json", "as /api/v1/clusters has them"}},
               .run = run_get_family},
              {.name = "etcd",
               .summary = "list the etcd clusters, their members and what is wrong with them",
               .options = reading_options(),
               .examples = {{"wardmote get etcd", "roles, indexes and sizes of their databases"}},
               .run = run_get_family},
              {.name = "failover",
               .summary = "list the failover pairs: who is active, and what is wrong with them",
               .options = reading_options(),
               .examples = {{"wardmote get failover --watch", "refresh every second"}},
               .run = run_get_family},
              {.name = "meshes",
               .summary = "list the BGP meshes, and what each node says of each session",
               .options = reading_options(),
               .examples = {{"wardmote get meshes --watch", "refresh every second"}},
               .run = run_get_family},
              {.name = "members",
               .summary = "list every member of every cluster, and what it says",
               .options = reading_options(),
               .examples = {{"wardmote get members --watch", "refresh every second"}},
               .run = run_get_members},
              {.name = "findings",
               .summary = "list what is wrong now, the most severe first",
               .options = reading_options(),
               .examples = {{"wardmote get findings -o json", "for a script"}},
               .run = run_get_findings},
              {.name = "checks",
               .summary = "list every check and its state",
               .options = reading_options(),
               .examples = {{"wardmote get checks", "states, and since when they last"}},
               .run = run_get_checks},
              {.name = "guests",
               .summary = "list the guests of the host, and what is the matter with them",
               .options = reading_options(),
               .examples = {{"wardmote get guests -o wide", "with UUIDs, projects and flavors"}},
               .run = run_get_guests},
              get_incidents(),
              {.name = "receivers",
               .summary = "list who is notified of incidents, and whether they take notifications",
               .options = reading_options(),
               .examples = {{"wardmote get receivers", "also what could not be delivered"}},
               .run = run_get_receivers},
              get_plans(),
              get_actions(),
              get_agents()}};
}

Command status() {
  return {.name = "status",
          .summary = "show clusters, checks and gates on one screen",
          .description =
              "Exits with 0 when all is well, 1 on a warning, 2 when something is critical, 3 when "
              "the agent knows nothing.",
          .arguments = {{.name = "CLUSTER",
                         .help = "show only this cluster, of OVN or etcd, this mesh or this pair",
                         .required = false}},
          .options = status_options(),
          .examples = {{"wardmote status", "everything that the agent watches"},
                       {"wardmote status ovn-sb --watch", "one cluster, again every second"},
                       {"wardmote status --all", "what each agent that shares the store says"},
                       {"wardmote status -o json | jq .verdict", "the verdict for a script"}},
          .run = run_status};
}

Command top() {
  return {.name = "top",
          .summary = "fill the screen every second, the worst first",
          .options = reading_options(),
          .examples = {{"wardmote top", "until Ctrl-C"},
                       {"wardmote top --watch=5s", "every five seconds"}},
          .run = run_top};
}

Command reload() {
  return {
      .name = "reload",
      .summary = "make the agent read its configuration now",
      .description =
          "The agent also reads a changed file by itself, within seconds. Exits with 65 when the "
          "new configuration is not valid; the old one then stays in use. Needs the role admin.",
      .options = agent_options(),
      .examples = {{"wardmote reload", "after an edit"}},
      .run = run_reload};
}

Command doctor() {
  Command command{
      .name = "doctor",
      .summary = "find what is wrong with the agent itself, and what to do",
      .description =
          "Checks whether the agent answers, whether its configuration is valid and in use, which "
          "sockets it may not open, and its clock, descriptors, socket and CPU. For what the agent "
          "watches, see status.",
      .options = {output_option(),
                  {.name = "bundle",
                   .value = "FILE",
                   .help = "also write a tar archive for whoever helps you, without secrets",
                   .completes = Completes::kFiles},
                  no_color_option()},
      .examples = {{"wardmote doctor", "first, when the agent seems wrong"},
                   {"wardmote doctor --bundle wardmote.tar", "an archive for a report"}},
      .run = run_doctor};
  std::ranges::move(agent_options(), std::back_inserter(command.options));
  return command;
}

Command history() {
  std::vector<Option> options = {
      {.name = "since", .value = "DURATION", .help = "how far back, for example 6h"},
      {.name = "subject",
       .value = "NAME",
       .help = "only changes of this cluster, check, gate, member, server id, address or code"},
      {.name = "incident", .value = "NUMBER", .help = "only changes that belong to this incident"},
      {.name = "limit", .value = "NUMBER", .help = "show this many, the newest (default: 1000)"}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {
      .name = "history",
      .summary = "show what changed, the oldest first",
      .description = "Also shows changes before the agent's start if its configuration has 'data'.",
      .options = std::move(options),
      .examples = {{"wardmote history --since 6h", "the last six hours"},
                   {"wardmote history --subject ctl-2", "one member"},
                   {"wardmote history --subject RAFT_MEMBER_DOWN -o json", "for a script"}},
      .run = run_history};
}

Command samples() {
  std::vector<Option> options = {
      {.name = "since", .value = "DURATION", .help = "how far back (default: 24h)"}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "samples",
          .summary = "show how the probes of one thing went over time",
          .description =
              "Shows how many probes ran, how many were good, and how long they took; of a raft "
              "member also the most entries in its log, not committed and not applied. A line is a "
              "minute; for older times and long periods ten minutes, an hour or more. Needs 'data' "
              "in the agent's configuration.",
          .arguments = {{.name = "SUBJECT",
                         .help = "a check, a cluster, or CLUSTER/MEMBER; without it, the names of "
                                 "all that have samples",
                         .required = false}},
          .options = std::move(options),
          .examples = {{"wardmote samples", "what has samples"},
                       {"wardmote samples bird", "the last day of a check"},
                       {"wardmote samples ovn-nb/ctl-2 --since 2h", "one member"},
                       {"wardmote samples ovn-nb --since 30d -o json", "for a script"}},
          .run = run_samples};
}

Command livez() {
  return {.name = "livez",
          .summary = "exit with 0 if the agent is alive, else with 2",
          .options = gate_options(),
          .examples = {{"wardmote livez --socket /run/wardmote/api.sock", "as an exec probe"}},
          .run = run_livez};
}

Command readyz() {
  return {.name = "readyz",
          .summary = "exit with 0 if this node is ready, else with 2",
          .options = gate_options(),
          .examples = {{"wardmote readyz", "'ok', or the checks that fail"},
                       {"wardmote readyz --verbose --exclude ovn-sb",
                        "every check; ovn-sb does not count"}},
          .run = run_readyz};
}

Option health_check(std::string name, std::string help) {
  return {.name = std::move(name), .value = "", .help = std::move(help)};
}

Command calico_health() {
  return {
      .name = "calico-health",
      .summary = "run the health checks of calico-node, with its flags and texts; needs no agent",
      .description =
          "If all is good, prints nothing and exits with 0. Otherwise prints a line for each "
          "failure as soon as it is known, and exits with 1, or with 3 if nothing failed but "
          "something cannot be judged. All checks run at once under one deadline. Flags may have "
          "one dash or two. Reads FELIX_HEALTHHOST and FELIX_HEALTHPORT, and uses no proxy. Under "
          "the name calico-node it runs health checks only, and passes every other command to "
          "calico-node.real in the same folder, or to $WARDMOTE_CALICO_NODE.",
      .options =
          {health_check("felix-live", "check that Felix answers /liveness"),
           health_check("felix-ready", "check that Felix answers /readiness"),
           health_check("bird-live",
                        "check that confd and bird run under runit, and that BIRD answers"),
           health_check("bird6-live", "the same for bird6"),
           health_check("bird-ready",
                        "check the BGP sessions: all of them within the threshold after the node's "
                        "start, one later"),
           health_check("bird6-ready", "the same for the IPv6 peers"),
           {.name = "threshold-time",
            .value = "DURATION",
            .help = "how long the start of a node takes, as Go writes it (default: 30s)"},
           {.name = "deadline",
            .value = "DURATION",
            .help = "deadline of all checks (default: 9s)"},
           {.name = "compat",
            .value = "RELEASE",
            .help = "answer as this release does, with its faults: calico-3.22, calico-3.30, head",
            .choices = {"calico-3.22", "calico-3.30", "head"}},
           {.name = "explain",
            .value = "",
            .help = "print all failures with the reason, for each peer"},
           {.name = "min-peers",
            .value = "NUMBER",
            .help = "how many peers must be established (default: none need be configured)"},
           {.name = "expect",
            .value = "PEER",
            .help = "address or name of a peer that must be configured",
            .repeats = true},
           {.name = "gr",
            .value = "WHEN",
            .help = "when a graceful restart is a failure: startup (the default), fail, "
                    "ignore",
            .choices = {"startup", "fail", "ignore"}},
           {.name = "root",
            .value = "FOLDER",
            .help = "where the node's file system is mounted (default: /)",
            .completes = Completes::kFiles}},
      .examples = {{"wardmote calico-health --bird-ready --felix-ready",
                    "the readiness probe of Calico's manifest"},
                   {"wardmote calico-health --bird-live --bird-ready --explain",
                    "the reason for each peer"},
                   {"wardmote calico-health --bird-ready --compat calico-3.30",
                    "what calico-node 3.30 would print"}},
      .run = run_calico_health};
}

Command ocf_agent() {
  return {
      .name = "ocf",
      .summary = "do what Pacemaker asks of the OVN databases of this node (OCF resource agent)",
      .description =
          "Takes its parameters from the environment, and exits with the codes of the OCF "
          "resource agent API. The program does the same when it is called ovndb-servers. See "
          "docs/failover-pacemaker.md.",
      .arguments = {{.name = "ACTION",
                     .help = "what to do",
                     .choices = {"start", "stop", "status", "monitor", "promote", "demote",
                                 "notify", "validate-all", "meta-data", "usage"}}},
      .examples = {{"wardmote ocf meta-data", "the parameters, as XML"},
                   {"OCF_RESKEY_master_ip=10.0.0.100 wardmote ocf validate-all",
                    "whether this node can run them"}},
      .run = run_ocf};
}

Command completion() {
  return {.name = "completion",
          .summary = "print the completion script of a shell",
          .arguments = {{.name = "SHELL",
                         .help = "bash, zsh or fish",
                         .choices = {"bash", "zsh", "fish"}}},
          .examples = {{"source <(wardmote completion bash)", "for this shell"},
                       {"wardmote completion zsh > ~/.zfunc/_wardmote",
                        "for zsh, with ~/.zfunc in $fpath"},
                       {"wardmote completion fish > ~/.config/fish/completions/wardmote.fish",
                        "for fish"}},
          .run = run_completion};
}

Command man() {
  return {.name = "man",
          .summary = "print the manual page of this program",
          .examples = {{"wardmote man > wardmote.1", "as a package installs it"}},
          .run = run_man};
}

Command version() {
  return {.name = "version",
          .summary = "print the version",
          .options = {output_option()},
          .examples = {{"wardmote version", "for people"},
                       {"wardmote version -o json", "for a script"}},
          .run = run_version};
}

/// A command or group, and the function that makes it.
struct Verb {
  std::string_view name;
  Command (*make)(KindsOfProbes kinds);
};

template <Command (*Make)()>
Command of_no_kind(KindsOfProbes) {
  return Make();
}

constexpr auto kVerbs = std::to_array<Verb>({
    {"status", of_no_kind<status>},
    {"get", of_no_kind<get_group>},
    {"elect", of_no_kind<elect_group>},
    {"top", of_no_kind<top>},
    {"explain", of_no_kind<explain>},
    {"history", of_no_kind<history>},
    {"samples", of_no_kind<samples>},
    {"ack", of_no_kind<ack>},
    {"silence", of_no_kind<silence_group>},
    {"notify", of_no_kind<notify_group>},
    {"plan", of_no_kind<plan>},
    {"approve", of_no_kind<approve>},
    {"reject", of_no_kind<reject>},
    {"pause", of_no_kind<pause>},
    {"resume", of_no_kind<resume>},
    {"failover", of_no_kind<failover_group>},
    {"probe", probe_group},
    {"assess", of_no_kind<assess_group>},
    {"replay", of_no_kind<replay>},
    {"livez", of_no_kind<livez>},
    {"readyz", of_no_kind<readyz>},
    {"wait-ready", of_no_kind<wait_ready>},
    {"gate", of_no_kind<gate_group>},
    {"reconcile", of_no_kind<reconcile_group>},
    {"calico-health", of_no_kind<calico_health>},
    {"ocf", of_no_kind<ocf_agent>},
    {"doctor", of_no_kind<doctor>},
    {"look", of_no_kind<look>},
    {"init", of_no_kind<init>},
    {"config", of_no_kind<config_group>},
    {"reload", of_no_kind<reload>},
    {"completion", of_no_kind<completion>},
    {"man", of_no_kind<man>},
    {"version", of_no_kind<version>},
});

}  // namespace

Command command_table(KindsOfProbes kinds, std::string_view only) {
  Command program = {
      .name = "wardmote",
      .summary =
          "shows what the members of a control plane say about each other, and what is wrong",
      .description =
          "Exit codes: 0 good, 1 warning, 2 critical, 3 unknown, so every command that reads is a "
          "monitoring plugin; 64 usage, 65 bad configuration, 69 agent unreachable, 74 output not "
          "written, 75 temporary, 77 permission, 130 interrupted. `wardmote COMMAND --help` shows "
          "options and examples.",
      .examples = {{"wardmote status", "what is wrong now"},
                   {"wardmote explain RAFT_NO_QUORUM", "what a finding means"}},
  };
  const bool known = std::ranges::find(kVerbs, only, &Verb::name) != kVerbs.end();
  if (!known) program.commands.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) {
    if (!known || verb.name == only) program.commands.push_back(verb.make(kinds));
  }
  return program;
}

}  // namespace wardmote::cli
