#include "cli/plan_commands.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

std::vector<Option> with(std::vector<Option> first, std::vector<Option> rest) {
  std::ranges::move(rest, std::back_inserter(first));
  return first;
}

Option comment_option() {
  return {.name = "comment", .value = "TEXT", .help = "for others to read"};
}

}  // namespace

Command get_plans() {
  return {.name = "plans",
          .summary = "what the agent would do, does, or waits to be allowed",
          .description = "Also shows what its policies are for and why nothing is planned there.",
          .options = with(
              {{.name = "all", .value = "", .help = "those that have ended too", .letter = 'a'}},
              reading_options()),
          .examples = {{"wardmote get plans", "what is open"},
                       {"wardmote get plans --all -o json", "and what is over, for a script"}},
          .run = run_get_plans};
}

Command get_actions() {
  return {
      .name = "actions",
      .summary = "the journal of what was planned, approved and done",
      .options = with(
          {{.name = "plan", .value = "NUMBER", .help = "only those of this plan"},
           {.name = "incident", .value = "NUMBER", .help = "only what belongs to this incident"},
           {.name = "most",
            .value = "NUMBER",
            .help = "the newest so many, at most 1000 (default: 200)"}},
          reading_options()),
      .examples = {{"wardmote get actions", "the newest"},
                   {"wardmote get actions --plan 3 -o json", "one plan's, for an auditor"}},
      .run = run_get_actions};
}

Command plan() {
  return {.name = "plan",
          .summary = "have a plan made to rebuild a member",
          .description =
              "It is refused while the member may be alive, while another is not well, and when "
              "quorum would be lost. It begins when somebody approves it.",
          .arguments = {{.name = "CLUSTER", .help = "its name"},
                        {.name = "MEMBER", .help = "its name"}},
          .options = order_options(),
          .examples = {{"wardmote plan ovn-nb ctl-3", "then: wardmote approve NUMBER"}},
          .run = run_plan};
}

Command approve() {
  return {
      .name = "approve",
      .summary = "let a plan begin, or go on where it was unclear",
      .description = "A plan that is unclear repeats the step that was not finished: look first.",
      .arguments = {{.name = "PLAN", .help = "its number"}},
      .options = with({comment_option()}, order_options()),
      .examples = {{"wardmote approve 3", "it begins at once"}},
      .run = run_approve};
}

Command reject() {
  return {.name = "reject",
          .summary = "end a plan that has not begun, or that is unclear",
          .arguments = {{.name = "PLAN", .help = "its number"}},
          .options = with({comment_option()}, order_options()),
          .examples = {{"wardmote reject 3 --comment by-hand", "with a word to others"}},
          .run = run_reject};
}

Command pause() {
  return {
      .name = "pause",
      .summary = "let the agent begin no step, for a time or until resume",
      .description = "A step that runs already comes to its end.",
      .arguments = {{.name = "CLUSTER", .help = "its name; all by default", .required = false}},
      .options = with({{.name = "for", .value = "DURATION", .help = "how long, for example 2h"}},
                      order_options()),
      .examples = {{"wardmote pause --for 2h", "while people work on the cluster"}},
      .run = run_pause};
}

Command resume() {
  return {.name = "resume",
          .summary = "end a pause",
          .arguments = {{.name = "CLUSTER", .help = "its name; all by default", .required = false}},
          .options = order_options(),
          .examples = {{"wardmote resume", "what waited goes on"}},
          .run = run_resume};
}

}  // namespace wardmote::cli
