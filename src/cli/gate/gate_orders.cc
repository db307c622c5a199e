#include "cli/gate/gate_orders.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/gate/gate_commands.h"
#include "cli/ordering.h"
#include "cli/reading.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/version_gate.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::string path_of(const Call& call, const std::string& order) {
  return "/api/v1/version-gates/" + call.value("GATE") + "/" + order;
}

/// Whose it is, and what may be done about it.
std::string draw_foreign(const Fields& object) {
  const Fields foreign = object.object("foreign");
  std::string managers;
  for (const std::string& manager : foreign.texts("managers"))
    managers += (managers.empty() ? "" : ", ") + manager;
  std::string text =
      fmt::format("  its fields are of {}\n", managers.empty() ? "nobody" : managers);
  if (foreign.flag("adoptable")) {
    text +=
        fmt::format("  to take it over: wardmote reconcile adopt GATE {}\n", object.text("object"));
  } else {
    text += fmt::format("  it cannot be taken over: {}\n", foreign.text("why"));
  }
  return text;
}

std::string draw_pass(const json::value& shown, Style /*style*/) {
  const Fields pass(shown);
  std::string text =
      fmt::format("{}{}\n  begun {}, {} requests, {} writes\n",
                  pass.flag("dry") ? "would be: " : "", pass.text("summary"), pass.text("begun"),
                  pass.number("requests").value_or(0), pass.number("writes").value_or(0));
  if (pass.has("paused_by")) {
    text += fmt::format("  paused by {}: no pass is made now\n", pass.text("paused_by"));
  } else if (pass.flag("nobody_leads")) {
    text += "  nobody leads the gate: no pass is made now\n";
  }
  if (const std::string source = pass.text("source"); !source.empty())
    text += fmt::format("  as {} says\n", source);
  for (const std::string& fault : pass.texts("faults")) text += "  " + fault + "\n";
  if (pass.has("prune_refused"))
    text += "  nothing is pruned: " + pass.text("prune_refused") + "\n";
  for (const json::value& one : pass.list("touched")) {
    const Fields object(one);
    const std::string why = object.text("why");
    text += fmt::format("{} {}{}{}\n", object.text("object"), object.text("action"),
                        why.empty() ? "" : ": ", why);
    if (object.has("words")) text += fmt::format("  the server: {}\n", object.text("words"));
    if (object.has("foreign")) text += draw_foreign(object);
  }
  return text;
}

Exit exit_of_pass(const json::value& shown) {
  const Fields pass(shown);
  if (!pass.flag("good")) return Exit::kCritical;
  return pass.flag("dry") && pass.flag("differs") ? Exit::kWarning : Exit::kGood;
}

Exit run_explain_pass(const Call& call) {
  return read(call, {.path = path_of(call, "reconcile"), .draw = draw_pass, .judge = exit_of_pass});
}

Exit order(const Call& call, const std::string& word, const std::string& field,
           const std::string& value) {
  Order given{.path = path_of(call, word), .draw = draw_version_gate};
  if (!value.empty()) given.body[field] = value;
  return give(call, std::move(given));
}

Exit run_pause_gate(const Call& call) {
  return order(call, "pause", "for", call.value("for"));
}
Exit run_resume_gate(const Call& call) {
  return order(call, "resume", "", "");
}
Exit run_preserve(const Call& call) {
  return order(call, "preserve", "release", call.value("RELEASE"));
}
Exit run_finalize(const Call& call) {
  return order(call, "finalize", "", "");
}
Exit run_adopt(const Call& call) {
  return order(call, "adopt", "object", call.value("KIND") + " " + call.value("OBJECT"));
}
Exit run_forget(const Call& call) {
  return order(call, "force-forget", "node", call.value("NODE"));
}

Argument gate_name() {
  return {.name = "GATE", .help = "the name of the version gate"};
}

std::vector<Option> with(std::vector<Option> first) {
  std::ranges::move(order_options(), std::back_inserter(first));
  return first;
}

}  // namespace

std::vector<Command> reconcile_orders() {
  return {
      {.name = "explain",
       .summary = "show the last pass of this host's agent: which objects are not as they should "
                  "be, and why",
       .description =
           "In mode observe: what a pass would do. Needs the role operator. Exits with 2 "
           "when the pass failed, 1 when something differs that nobody writes.",
       .arguments = {gate_name()},
       .options = reading_options(),
       .examples = {{"wardmote reconcile explain kubernetes", "why it is failing"}},
       .run = run_explain_pass},
      {.name = "pause",
       .summary = "keep all agents of a version gate from writing, for a time or until resume",
       .description =
           "A pass under way is broken off. Nodes go on to register, to wait and to serve. Needs "
           "the role operator.",
       .arguments = {gate_name()},
       .options = with({{.name = "for",
                         .value = "DURATION",
                         .help = "how long, for example 2h (default: until resume)"}}),
       .examples = {{"wardmote reconcile pause kubernetes --for 1h", "while people edit objects"}},
       .run = run_pause_gate},
      {.name = "resume",
       .summary = "end a pause of a version gate",
       .description = "Refused when the gate is not paused by itself; 'wardmote resume' ends a "
                      "pause of everything. Needs the role operator.",
       .arguments = {gate_name()},
       .options = order_options(),
       .examples = {{"wardmote reconcile resume kubernetes", "the agents write again"}},
       .run = run_resume_gate},
      {.name = "adopt",
       .summary = "have the leader's next pass take over one object that others own",
       .description =
           "For an object of that name that was there before its manifest, or whose fields another "
           "field manager keeps: 'explain' shows which wait for it. Only the very object that the "
           "last pass has seen is taken over. Refused when several objects may be meant, when it "
           "belongs to another set, is being deleted, or when a controller would change it back; "
           "and by an agent that does not lead. The order and what came of it are in the journal. "
           "Needs the role admin.",
       .arguments = {gate_name(),
                     {.name = "KIND", .help = "as 'explain' prints it, with or without its group"},
                     {.name = "OBJECT", .help = "NAMESPACE/NAME, or its name alone"}},
       .options = order_options(),
       .examples = {{"wardmote reconcile adopt kubernetes ConfigMap default/settings",
                     "somebody made it by hand before there was a manifest"}},
       .run = run_adopt}};
}

Command gate_group() {
  Command preserve{
      .name = "preserve",
      .summary = "let only nodes of a release, and older ones, write objects",
      .description =
          "Nodes of newer releases may be there and serve, if the objects fit them, and none of "
          "them writes: there is a way back until 'finalize'. Refused when a newer release has "
          "written already, when no registered node has RELEASE, and when an older release is "
          "preserved. Needs the role admin.",
      .arguments = {gate_name(), {.name = "RELEASE", .help = "as 1.2.3"}},
      .options = order_options(),
      .examples = {{"wardmote gate preserve kubernetes 1.3.2",
                    "before the first node is upgraded"}},
      .run = run_preserve};
  Command finalize{.name = "finalize",
                   .summary = "end 'preserve': nodes of the highest release write objects",
                   .description = "Needs the role admin.",
                   .arguments = {gate_name()},
                   .options = order_options(),
                   .examples = {{"wardmote gate finalize kubernetes", "the upgrade is good"}},
                   .run = run_finalize};
  Command forget{
      .name = "force-forget",
      .summary = "remove the registration of a node that is gone for good",
      .description =
          "It no longer blocks a leader whose objects it is too old for. If it lives after all, it "
          "may no longer serve until it has registered again and read the status. Needs the role "
          "admin.",
      .arguments = {gate_name(), {.name = "NODE", .help = "its name at the gate"}},
      .options = order_options(),
      .examples = {{"wardmote gate force-forget kubernetes ctl-3", "ctl-3 burnt down"}},
      .run = run_forget};
  return {.name = "gate",
          .summary = "orders to a version gate: preserve, finalize, force-forget",
          .description =
              "Each is in the journal of the agent that takes it. See "
              "docs/version-gate.md.",
          .commands = {preserve, finalize, forget}};
}

}  // namespace wardmote::cli
