#include "cli/incident_commands.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Command silence_add() {
  std::vector<Option> options = {
      {.name = "match",
       .value = "LABEL=PATTERN",
       .help = "incidents with this label: code=RAFT_*, severity!=critical, root, scope, subject, "
               "cluster, node or one of the node's labels; all must match",
       .required = true,
       .repeats = true},
      {.name = "for", .value = "DURATION", .help = "how long, at most 8760h", .required = true},
      {.name = "comment", .value = "TEXT", .help = "a comment that others can read"}};
  std::ranges::move(order_options(), std::back_inserter(options));
  return {.name = "add",
          .summary = "mute the notifications of incidents that match, for a time",
          .options = std::move(options),
          .examples = {{"wardmote silence add --match root=cluster:ovn-nb --for 2h",
                        "one cluster, for two hours"}},
          .run = run_silence_add};
}

}  // namespace

Command get_incidents() {
  std::vector<Option> options = {
      {.name = "all", .value = "", .help = "also list resolved incidents", .letter = 'a'}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "incidents",
          .summary = "list what is wrong now, by cause",
          .options = std::move(options),
          .examples = {{"wardmote get incidents", "open incidents"},
                       {"wardmote get incidents --all", "also resolved ones"}},
          .run = run_get_incidents};
}

Command ack() {
  std::vector<Option> options = {
      {.name = "comment", .value = "TEXT", .help = "a comment that others can read"},
      output_option(),
      no_color_option()};
  std::ranges::move(agent_options(), std::back_inserter(options));
  return {
      .name = "ack",
      .summary = "acknowledge an incident: you take care of it",
      .description =
          "The incident stays open, and its notification is not repeated. Needs the role operator.",
      .arguments = {{.name = "INCIDENT", .help = "the number of the incident"}},
      .options = std::move(options),
      .examples = {{"wardmote ack 17 --comment disk-ordered", "with a comment for others"}},
      .run = run_ack};
}

Command silence_group() {
  return {.name = "silence",
          .summary = "mute notifications: add, list, expire",
          .description =
              "A silence mutes notifications only: the agent still opens, shows and records "
              "incidents. The end of an incident is sent if its beginning was sent.",
          .commands = {
              silence_add(),
              {.name = "list",
               .summary = "list silences, also those that ended less than a day ago",
               .options = reading_options(),
               .examples = {{"wardmote silence list", "who added them, and until when they last"}},
               .run = run_silence_list},
              {.name = "expire",
               .summary = "end a silence now",
               .arguments = {{.name = "SILENCE", .help = "the number of the silence"}},
               .options = order_options(),
               .examples = {{"wardmote silence expire 3",
                             "incidents that are still open are then sent"}},
               .run = run_silence_expire}}};
}

namespace {

Command route_test() {
  std::vector<Option> options = {
      {.name = "label",
       .value = "NAME=VALUE",
       .help = "a label of the incident, for example root=cluster:ovn-nb; scope, subject and "
               "cluster follow from root, and the labels of the node are added",
       .letter = 'l',
       .repeats = true}};
  std::ranges::move(reading_options(), std::back_inserter(options));
  return {.name = "test",
          .summary = "show which receivers would get an incident, and why",
          .description = "Sends nothing. Exits with 0 if a receiver would get it, else with 1.",
          .options = std::move(options),
          .examples = {{"wardmote notify route test -l severity=critical -l root=cluster:ovn-nb",
                        "who would be told that a cluster is down"}},
          .run = run_route_test};
}

}  // namespace

Command notify_group() {
  return {
      .name = "notify",
      .summary = "test receivers and routes of notifications",
      .commands = {{.name = "test",
                    .summary = "send a test notification to a receiver",
                    .description = "Exits with 0 if the receiver took it, else with 2.",
                    .arguments = {{.name = "RECEIVER", .help = "the name of the receiver"}},
                    .options = order_options(),
                    .examples = {{"wardmote notify test oncall", "before you need the receiver"}},
                    .run = run_notify_test},
                   {.name = "route",
                    .summary = "test the routes of notifications",
                    .commands = {route_test()}}}};
}

}  // namespace wardmote::cli
