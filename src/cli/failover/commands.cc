#include "cli/failover/commands.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/failover/pair.h"
#include "cli/ordering.h"
#include "cli/output.h"
#include "cli/reading.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kAsConfigured = "default";

std::string path_of(const Call& call, const std::string& order = "") {
  const std::string path = "/api/v1/failover/" + call.value("NAME");
  return order.empty() ? path : path + "/" + order;
}

Exit run_status(const Call& call) {
  return read(call, {.path = path_of(call), .draw = draw_pair, .judge = exit_of_pair});
}

Exit run_explain(const Call& call) {
  return read(call, {.path = path_of(call), .draw = draw_pair_reasons, .judge = exit_of_pair});
}

Exit run_history(const Call& call) {
  return read(call, {.path = path_of(call), .draw = draw_pair_history, .judge = exit_good});
}

Exit run_order(const Call& call, const std::string& word) {
  Order order{.path = path_of(call, word), .draw = draw_pair};
  if (call.has("to")) order.body["to"] = call.value("to");
  if (word == "failover" && call.has("force")) order.body["force"] = true;
  if (word == "switchover" && call.has("at")) order.body["at"] = call.value("at");
  return give(call, std::move(order));
}

Exit run_switchover(const Call& call) {
  return run_order(call, "switchover");
}

Exit run_failover(const Call& call) {
  return run_order(call, "failover");
}

Exit run_flush(const Call& call) {
  return give(call, {.path = path_of(call, "flush"), .draw = draw_pair});
}

/// `default` takes a setting back to the configuration.
Exit run_edit(const Call& call) {
  Order order{.path = path_of(call, "edit"), .draw = draw_pair};
  order.body["node"] = call.value("node");
  if (call.has("priority")) {
    const std::string text = call.value("priority");
    const auto number = parse_number<std::int64_t>(text);
    if (!number && text != kAsConfigured)
      return complain(call, Exit::kUsage,
                      fmt::format("--priority: '{}' is no number, and not default", text));
    order.body["priority"] = number ? json::value(*number) : json::value(nullptr);
  }
  if (call.has("nofailover")) {
    const std::string text = call.value("nofailover");
    order.body["nofailover"] =
        text == kAsConfigured ? json::value(nullptr) : json::value(text == "yes");
  }
  return give(call, std::move(order));
}

Exit run_pause_pair(const Call& call) {
  Order order{.path = path_of(call, "pause"), .draw = draw_pair};
  if (call.has("for")) order.body["for"] = call.value("for");
  return give(call, std::move(order));
}

Exit run_resume_pair(const Call& call) {
  return give(call, {.path = path_of(call, "resume"), .draw = draw_pair});
}

std::vector<Option> with(std::vector<Option> first, std::vector<Option> rest) {
  std::ranges::move(rest, std::back_inserter(first));
  return first;
}

Argument pair_name() {
  return {.name = "NAME", .help = "the name of the pair in the configuration"};
}

Option to_option(const std::string& otherwise) {
  return {
      .name = "to", .value = "NODE", .help = "the node to promote (default: " + otherwise + ")"};
}

}  // namespace

Command failover_group() {
  Command status{.name = "status",
                 .summary = "show who is active, what each node has, and what comes next",
                 .arguments = {pair_name()},
                 .options = reading_options(),
                 .examples = {{"wardmote failover status ovn --watch", "refresh every second"}},
                 .run = run_status};
  Command switchover{
      .name = "switchover",
      .summary = "make another node the active one, without losing a row",
      .description =
          "The active node stops writes, waits until the other one has everything, and gives up. "
          "If that takes longer than five seconds, it takes everything back. Watch what comes of "
          "it with status. Needs the role admin.",
      .arguments = {pair_name()},
      .options = with({to_option("the backup of the highest priority"),
                       {.name = "at",
                        .value = "TIME",
                        .help = "not now but then; as 2026-11-20T07:52:35Z, in UTC"}},
                      order_options()),
      .examples = {{"wardmote failover switchover ovn --to ctl-2", "before maintenance of ctl-1"},
                   {"wardmote failover switchover ovn --to ctl-2 --at 2026-11-30T02:00:00Z",
                    "in the night"}},
      .run = run_switchover};
  Command flush{.name = "flush",
                .summary = "forget the scheduled switchover",
                .description = "Needs the role admin.",
                .arguments = {pair_name()},
                .options = order_options(),
                .examples = {{"wardmote failover flush ovn", "it is not to happen"}},
                .run = run_flush};
  Command edit{
      .name = "edit",
      .summary = "change the settings of a node at run time",
      .description =
          "What is set here is in the store, counts before the configuration of the node, and "
          "stays "
          "until it is edited again. Needs the role admin.",
      .arguments = {pair_name()},
      .options = with(
          {{.name = "node", .value = "NODE", .help = "whose settings to change", .required = true},
           {.name = "priority",
            .value = "NUMBER",
            .help = "-1000 to 1000, or default: as configured"},
           {.name = "nofailover",
            .value = "WORD",
            .help = "never promote the node, or default: as configured",
            .choices = {"yes", "no", std::string(kAsConfigured)}}},
          order_options()),
      .examples = {{"wardmote failover edit ovn --node ctl-2 --nofailover yes",
                    "its disk is slow today"},
                   {"wardmote failover edit ovn --node ctl-2 --nofailover default",
                    "it is good again"}},
      .run = run_edit};
  Command failover{
      .name = "failover",
      .summary = "promote a node while nobody is active, or as switchover while somebody is",
      .description =
          "Without --force only a copy is promoted that nobody has more than. With it, the rows "
          "that only other copies have are lost; those copies are kept aside on their nodes. "
          "Needs the role admin.",
      .arguments = {pair_name()},
      .options = with({to_option("whichever may be"),
                       {.name = "force",
                        .value = "",
                        .help = "promote this node, whatever the others have; needs --to"}},
                      order_options()),
      .examples = {{"wardmote failover failover ovn --to ctl-2 --force",
                    "the node with the last rows will not come back"}},
      .run = run_failover};
  Command pause{.name = "pause",
                .summary = "keep everybody from being promoted, for a time or until resume",
                .description =
                    "The active node stays active, and still gives up when it loses its lease. "
                    "Needs the role operator.",
                .arguments = {pair_name()},
                .options = with({{.name = "for",
                                  .value = "DURATION",
                                  .help = "how long, for example 2h (default: until resume)"}},
                                order_options()),
                .examples = {{"wardmote failover pause ovn --for 1h", "while people work on it"}},
                .run = run_pause_pair};
  Command resume{.name = "resume",
                 .summary = "end a pause",
                 .arguments = {pair_name()},
                 .options = order_options(),
                 .examples = {{"wardmote failover resume ovn", "who may be promoted is again"}},
                 .run = run_resume_pair};
  Command history{.name = "history",
                  .summary = "list the promotions, the oldest first",
                  .arguments = {pair_name()},
                  .options = reading_options(),
                  .examples = {{"wardmote failover history ovn", "when, who and why"}},
                  .run = run_history};
  Command explain{
      .name = "explain",
      .summary = "say of each node whether it could take over, and why not",
      .description = "While somebody is active: by a switchover. Else: by itself.",
      .arguments = {pair_name()},
      .options = reading_options(),
      .examples = {{"wardmote failover explain ovn", "nobody is active, and somebody asks why"}},
      .run = run_explain};
  return {.name = "failover",
          .summary = "show and move the active node of a pair of databases (without Pacemaker)",
          .description = "See docs/failover-standalone.md.",
          .commands = {status, switchover, flush, failover, pause, resume, edit, history, explain}};
}

}  // namespace wardmote::cli
