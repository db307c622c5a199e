#include "cli/command_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/assess_table.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/plan_commands.h"
#include "cli/probe_params.h"
#include "cli/verbs/verbs.h"
#include "observe/kinds.h"

namespace wardmote::cli {
namespace {

/// What livez and readyz have.
std::vector<Option> gate_options() {
  std::vector<Option> options = {
      {.name = "verbose", .value = "", .help = "a line for each check, also when all pass"},
      {.name = "exclude", .value = "CHECK", .help = "do not ask this one", .repeats = true}};
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
  command.options.push_back(
      {.name = "timeout", .value = "DURATION", .help = "the end of the whole look (default: 2s)"});
  command.options.push_back(output_option());
  command.options.push_back(no_color_option());
  return command;
}

Command probe_group(KindsOfProbes kinds) {
  Command group{.name = "probe",
                .summary = "look once with one probe; needs no agent",
                .description = "Each kind has its own --help and a page in docs/probes."};
  if (kinds != nullptr) {
    for (const observe::ProbeKind& kind : kinds()) group.commands.push_back(probe_command(kind));
  }
  group.examples = {
      {"wardmote probe ovn /run/ovn/ovnnb_db.ctl --database OVN_Northbound",
       "what one OVN database server says of its cluster"},
      {"wardmote probe ovn /run/ovn/ovnsb_db.ctl --database OVN_Southbound --ovsdb "
       "unix:/run/ovn/ovnsb_db.sock -o json",
       "by both of its sockets, as JSON"},
  };
  return group;
}

Command get_incidents() {
  std::vector<Option> options = {
      {.name = "all", .value = "", .help = "those that are resolved too", .letter = 'a'}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "incidents",
          .summary = "what is wrong now, by cause",
          .options = std::move(options),
          .examples = {{"wardmote get incidents", "what is open"},
                       {"wardmote get incidents --all", "and what is over"}},
          .run = run_get_incidents};
}

Command ack() {
  std::vector<Option> options = {{.name = "comment", .value = "TEXT", .help = "for others to read"},
                                 output_option(),
                                 no_color_option()};
  std::ranges::move(agent_options(), std::back_inserter(options));
  return {.name = "ack",
          .summary = "tell that somebody looks after an incident",
          .description =
              "It stays open, and is no longer repeated to those who were told. Orders "
              "are taken on the agent's unix socket only.",
          .arguments = {{.name = "INCIDENT", .help = "its number"}},
          .options = std::move(options),
          .examples = {{"wardmote ack 17 --comment disk-ordered", "with a word to others"}},
          .run = run_ack};
}

Command silence_add() {
  std::vector<Option> options = {
      {.name = "match",
       .value = "LABEL=PATTERN",
       .help = "what it is about: code=RAFT_*, severity!=critical, root, scope, subject, cluster, "
               "node or one of the node's labels; all must match",
       .required = true,
       .repeats = true},
      {.name = "for", .value = "DURATION", .help = "how long it lasts", .required = true},
      {.name = "comment", .value = "TEXT", .help = "for others to read"}};
  std::ranges::move(order_options(), std::back_inserter(options));
  return {.name = "add",
          .summary = "tell nobody of what matches, for a time",
          .options = std::move(options),
          .examples = {{"wardmote silence add --match root=cluster:ovn-nb --for 2h",
                        "one cluster, for two hours"}},
          .run = run_silence_add};
}

Command silence_group() {
  return {.name = "silence",
          .summary = "keep incidents from being told: add, list, expire",
          .description =
              "Incidents are opened, shown and written down all the same. The end of "
              "one whose beginning was told is told in any case.",
          .commands = {silence_add(),
                       {.name = "list",
                        .summary = "what is silenced, and what was until a day ago",
                        .options = reading_options(),
                        .examples = {{"wardmote silence list", "by whom, and until when"}},
                        .run = run_silence_list},
                       {.name = "expire",
                        .summary = "end a silence now",
                        .arguments = {{.name = "SILENCE", .help = "its number"}},
                        .options = order_options(),
                        .examples = {{"wardmote silence expire 3", "what still stands is told"}},
                        .run = run_silence_expire}}};
}

Command notify_group() {
  return {.name = "notify",
          .summary = "the ways to people: test",
          .commands = {{.name = "test",
                        .summary = "send a receiver a notice that says it is a test",
                        .description = "Exits with 0 when the receiver took it, with 2 when not.",
                        .arguments = {{.name = "RECEIVER", .help = "its name"}},
                        .options = order_options(),
                        .examples = {{"wardmote notify test oncall", "before it is needed"}},
                        .run = run_notify_test}}};
}

Command get_group() {
  return {.name = "get",
          .summary = "lists: members, findings, checks, incidents, receivers, plans, actions",
          .commands = {{.name = "members",
                        .summary = "every member of every cluster and what it says",
                        .options = reading_options(),
                        .examples = {{"wardmote get members --watch", "keep looking"}},
                        .run = run_get_members},
                       {.name = "findings",
                        .summary = "what is wrong now, most severe first",
                        .options = reading_options(),
                        .examples = {{"wardmote get findings -o json", "for a script"}},
                        .run = run_get_findings},
                       {.name = "checks",
                        .summary = "every check and its state",
                        .options = reading_options(),
                        .examples = {{"wardmote get checks", "states, and since when"}},
                        .run = run_get_checks},
                       get_incidents(),
                       {.name = "receivers",
                        .summary = "who is told of incidents, and how that goes",
                        .options = reading_options(),
                        .examples = {{"wardmote get receivers", "and what could not be told"}},
                        .run = run_get_receivers},
                       get_plans(),
                       get_actions()}};
}

Command status() {
  return {.name = "status",
          .summary = "the truth about the watched clusters on one screen",
          .description =
              "Exits with 0 when all is well, 1 on a warning, 2 when something is critical, 3 when "
              "nothing is known.",
          .arguments = {{.name = "CLUSTER", .help = "only this one", .required = false}},
          .options = reading_options(),
          .examples = {{"wardmote status", "everything that this agent watches"},
                       {"wardmote status ovn-sb --watch", "one cluster, again every second"},
                       {"wardmote status -o json | jq .verdict", "one word for a script"}},
          .run = run_status};
}

Command top() {
  return {.name = "top",
          .summary = "the whole screen, again every second: what is worst comes first",
          .options = reading_options(),
          .examples = {{"wardmote top", "until Ctrl-C"}, {"wardmote top --watch=5s", "slower"}},
          .run = run_top};
}

Command config_verb(const std::string& name, const std::string& summary, const Example& example) {
  return {.name = name,
          .summary = summary,
          .arguments = {{.name = "FILE",
                         .help = "the file (default: /etc/wardmote/wardmote.yaml)",
                         .required = false,
                         .completes = Completes::kFiles}},
          .examples = {example},
          .run = run_config};
}

Command config_group() {
  Command check = config_verb("check", "'ok', or every problem with its place",
                              {"wardmote config check wardmote.yaml", "before it is installed"});
  Command format = config_verb("fmt", "lay a file out: white space only; comments and order stay",
                               {"wardmote config fmt --write wardmote.yaml", "in place"});
  format.options = {{.name = "write", .value = "", .help = "back into the file", .letter = 'w'}};
  Command show = config_verb("show", "what all files say together, as YAML",
                             {"wardmote config show --effective", "with every default"});
  show.options = {{.name = "effective", .value = "", .help = "with every default that holds"}};
  Command diff =
      config_verb("diff", "what a change would change: 1 when there is something",
                  {"wardmote config diff new.yaml", "from the installed file to this one"});
  diff.arguments = {{.name = "FILE",
                     .help = "one file: the new one, against the installed one",
                     .completes = Completes::kFiles},
                    {.name = "TO",
                     .help = "two files: the new one, against the first",
                     .required = false,
                     .completes = Completes::kFiles}};
  Command schema = config_verb("schema", "a JSON schema for editors",
                               {"wardmote config schema > wardmote.schema.json", "for an editor"});
  schema.arguments.clear();
  return {.name = "config",
          .summary = "check, lay out, show and compare configurations; needs no agent",
          .description = "wardmoted, beside this program or in PATH, does the work.",
          .commands = {check, format, show, diff, schema}};
}

Command reload() {
  return {.name = "reload",
          .summary = "have the agent read its configuration again, now",
          .description =
              "A changed file is read within seconds without this. Ends with 65 when the "
              "configuration is not valid; then the one before it runs on. Only an admin may.",
          .options = agent_options(),
          .examples = {{"wardmote reload", "after an edit"}},
          .run = run_reload};
}

Command doctor() {
  Command command{
      .name = "doctor",
      .summary = "what is wrong with the agent and its surroundings, and what to do",
      .description =
          "Looks whether the agent answers, whether its configuration is valid and the one that "
          "runs, what it may not open, its clock, descriptors, socket and CPU. What the agent "
          "watches is not judged here: see status.",
      .options = {output_option(),
                  {.name = "bundle",
                   .value = "FILE",
                   .help = "also write a tar archive of all that was seen, without secrets, for "
                           "whoever helps",
                   .completes = Completes::kFiles},
                  no_color_option()},
      .examples = {{"wardmote doctor", "first thing when something is odd"},
                   {"wardmote doctor --bundle wardmote.tar", "for a report"}},
      .run = run_doctor};
  std::ranges::move(agent_options(), std::back_inserter(command.options));
  return command;
}

Command init() {
  return {
      .name = "init",
      .summary = "a configuration for this machine, to go on from; needs no agent",
      .description =
          "Finds OVN databases, BIRD, FRR, Felix, and services under runit, s6, "
          "daemontools and systemd by their files, and prints a configuration with comments. "
          "Reads only. Ends with 1 when nothing was found.",
      .options = {{.name = "detect", .value = "", .help = "look at this machine", .required = true},
                  {.name = "root",
                   .value = "PATH",
                   .help = "the root of the machine, for example of a container's host",
                   .completes = Completes::kFiles}},
      .examples = {{"wardmote init --detect > /etc/wardmote/wardmote.yaml",
                    "then read it, and complete its clusters"}},
      .run = run_init};
}

Command explain() {
  return {
      .name = "explain",
      .summary = "what a finding or an incident means, or all that is known of one thing",
      .description =
          "A code is explained from the catalogue, with the findings of that code that stand now. "
          "An incident is named by its number, with '#' before it when it has four digits: what "
          "stands of it, and what each of its codes means and asks for. Anything else is looked "
          "up: a member's name, a server id (four digits or all), an "
          "address, a check, a cluster.",
      .arguments = {{.name = "SUBJECT",
                     .help = "a code, the number of an incident, or the name of a thing",
                     .completes = Completes::kCodes}},
      .options = reading_options(),
      .examples = {{"wardmote explain RAFT_STALE_MEMBER",
                    "meaning, advice, and where it stands now"},
                   {"wardmote explain 17", "what is wrong with what, and what to do"},
                   {"wardmote explain e85f", "who lists that server, and what is wrong with it"}},
      .run = run_explain};
}

Command history() {
  std::vector<Option> options = {
      {.name = "since", .value = "DURATION", .help = "how far back, for example 6h"},
      {.name = "subject",
       .value = "NAME",
       .help = "only what is about it: a cluster, check, gate, member, server id, address or code"},
      {.name = "incident", .value = "NUMBER", .help = "only what belongs to this incident"},
      {.name = "most", .value = "NUMBER", .help = "the newest so many (default: 1000)"}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "history",
          .summary = "what changed, oldest first",
          .description =
              "What was before the agent's start is known when its configuration names "
              "a folder under 'data'.",
          .options = std::move(options),
          .examples = {{"wardmote history --since 6h", "the last six hours"},
                       {"wardmote history --subject ctl-2", "one member's"},
                       {"wardmote history --subject RAFT_MEMBER_DOWN -o json", "for a script"}},
          .run = run_history};
}

Command samples() {
  std::vector<Option> options = {
      {.name = "since", .value = "DURATION", .help = "how far back (default: 24h)"}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "samples",
          .summary = "how looks at one thing went over time",
          .description =
              "How many there were, how many found it good, how long they took, and of a raft "
              "member the most entries in its log, not committed and not applied. A line is a "
              "minute; of longer ago, or when much is asked for, ten minutes, an hour or more. "
              "Needs 'data' in the agent's configuration.",
          .arguments = {{.name = "SUBJECT",
                         .help = "a check, a cluster, or CLUSTER/MEMBER; without it, their names",
                         .required = false}},
          .options = std::move(options),
          .examples = {{"wardmote samples", "of whom there are any"},
                       {"wardmote samples bird", "the last day"},
                       {"wardmote samples ovn-nb/ctl-2 --since 2h", "one member's"},
                       {"wardmote samples ovn-nb --since 30d -o json", "for a script"}},
          .run = run_samples};
}

Command livez() {
  return {.name = "livez",
          .summary = "whether the agent is alive: 0 or 2",
          .options = gate_options(),
          .examples = {{"wardmote livez --socket /run/wardmote/api.sock",
                        "an exec probe that costs little"}},
          .run = run_livez};
}

Command readyz() {
  return {.name = "readyz",
          .summary = "whether this node is ready: 0 or 2",
          .options = gate_options(),
          .examples = {{"wardmote readyz", "ok, or which checks hold it back"},
                       {"wardmote readyz --verbose --exclude ovn-sb",
                        "every check, and whether all but one pass"}},
          .run = run_readyz};
}

Option health_check(std::string name, std::string help) {
  return {.name = std::move(name), .value = "", .help = std::move(help)};
}

Command calico_health() {
  return {
      .name = "calico-health",
      .summary = "the checks of calico-node, with its flags, texts and exit codes; needs no agent",
      .description =
          "Silent and 0 when all is good; else a line for each failure as soon as it is known, and "
          "1 (3 when there is only what cannot be judged). All checks run at once and end by one "
          "deadline. Flags may have one dash or two. FELIX_HEALTHHOST and FELIX_HEALTHPORT are "
          "heeded, proxies are not. A program of the name calico-node is this verb.",
      .options = {health_check("felix-live", "Felix answers /liveness"),
                  health_check("felix-ready", "Felix answers /readiness"),
                  health_check("bird-live", "confd and bird run under runit, and BIRD answers"),
                  health_check("bird6-live", "the same of bird6"),
                  health_check("bird-ready",
                               "BGP is established: with all peers within the threshold after the "
                               "node's start, with one later"),
                  health_check("bird6-ready", "the same of the IPv6 peers"),
                  {.name = "threshold-time",
                   .value = "DURATION",
                   .help = "how long a start takes, as Go writes it (default: 30s)"},
                  {.name = "deadline",
                   .value = "DURATION",
                   .help = "the end of everything, never after the threshold (default: 9s)"},
                  {.name = "compat",
                   .value = "RELEASE",
                   .help = "the steps, texts and verdicts of that release, its faults included: "
                           "calico-3.22, calico-3.30, head",
                   .choices = {"calico-3.22", "calico-3.30", "head"}},
                  {.name = "explain", .value = "", .help = "all failures, and why, peer by peer"},
                  {.name = "min-peers",
                   .value = "NUMBER",
                   .help = "peers that must be established (default: none need be configured)"},
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
                    "what is wrong with which peer"},
                   {"wardmote calico-health --bird-ready --compat calico-3.30",
                    "what calico-node 3.30 would have said"}},
      .run = run_calico_health};
}

Command completion() {
  return {.name = "completion",
          .summary = "the completion script for a shell",
          .arguments = {{.name = "SHELL",
                         .help = "bash, zsh or fish",
                         .choices = {"bash", "zsh", "fish"}}},
          .examples = {{"source <(wardmote completion bash)", "in this shell, now"},
                       {"wardmote completion zsh > ~/.zfunc/_wardmote",
                        "for zsh, with ~/.zfunc in $fpath"},
                       {"wardmote completion fish > ~/.config/fish/completions/wardmote.fish",
                        "for fish"}},
          .run = run_completion};
}

Command man() {
  return {.name = "man",
          .summary = "the manual page of this program",
          .examples = {{"wardmote man > wardmote.1", "as the package has it"}},
          .run = run_man};
}

Command version() {
  return {.name = "version",
          .summary = "the version",
          .options = {output_option()},
          .examples = {{"wardmote version", "for people"},
                       {"wardmote version -o json", "for a script"}},
          .run = run_version};
}

/// A verb or group, and what makes it.
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
    {"probe", probe_group},
    {"assess", of_no_kind<assess_group>},
    {"replay", of_no_kind<replay>},
    {"livez", of_no_kind<livez>},
    {"readyz", of_no_kind<readyz>},
    {"calico-health", of_no_kind<calico_health>},
    {"doctor", of_no_kind<doctor>},
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
          "Exit codes: 0 good, 1 warning, 2 critical, 3 unknown; 64 usage, 65 bad configuration, "
          "69 agent unreachable, 75 temporary, 77 permission, 130 interrupted. So every verb is a "
          "monitoring plugin. "
          "`wardmote COMMAND --help` shows options and examples.",
      .examples = {{"wardmote status", "what is going on"},
                   {"wardmote explain RAFT_NO_QUORUM", "what it means"}},
  };
  const bool known = std::ranges::find(kVerbs, only, &Verb::name) != kVerbs.end();
  if (!known) program.commands.reserve(kVerbs.size());
  for (const Verb& verb : kVerbs) {
    if (!known || verb.name == only) program.commands.push_back(verb.make(kinds));
  }
  return program;
}

}  // namespace wardmote::cli
