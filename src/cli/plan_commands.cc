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
  return {.name = "comment", .value = "TEXT", .help = "a comment that others can read"};
}

}  // namespace

Command get_plans() {
  return {
      .name = "plans",
      .summary = "list the repairs that the agent would do, does, or needs an approval for",
      .description =
          "Also lists findings that a policy covers but for which no plan is possible, and why.",
      .options =
          with({{.name = "all", .value = "", .help = "also list ended plans", .letter = 'a'}},
               reading_options()),
      .examples = {{"wardmote get plans", "open plans"},
                   {"wardmote get plans --all -o json", "also ended ones, for a script"}},
      .run = run_get_plans};
}

Command get_actions() {
  return {.name = "actions",
          .summary = "list the journal: what was planned, approved and done",
          .options = with({{.name = "plan", .value = "NUMBER", .help = "only rows of this plan"},
                           {.name = "incident",
                            .value = "NUMBER",
                            .help = "only rows that belong to this incident"},
                           {.name = "limit",
                            .value = "NUMBER",
                            .help = "show this many, the newest; at most 1000 (default: 200)"}},
                          reading_options()),
          .examples = {{"wardmote get actions", "the newest rows"},
                       {"wardmote get actions --plan 3 -o json", "one plan, for an auditor"}},
          .run = run_get_actions};
}

Command plan() {
  return {.name = "plan",
          .summary = "ask for a plan to rebuild a member, or to restart a guest",
          .description =
              "The agent refuses while the member may be alive, while another member is not well, "
              "and when the quorum would be lost; and while the guest is not dead. The plan begins "
              "when somebody approves it. Needs the role operator.",
          .arguments = {{.name = "CLUSTER", .help = "the name of the cluster, or of the guest"},
                        {.name = "MEMBER",
                         .help = "the name of the member; for a guest the word restart"}},
          .options = order_options(),
          .examples = {{"wardmote plan ovn-nb ctl-3", "then: wardmote approve NUMBER"},
                       {"wardmote plan web-1 restart", "a guest that is dead"}},
          .run = run_plan};
}

Command approve() {
  return {.name = "approve",
          .summary = "let a plan begin, or continue where it was unclear",
          .description =
              "An unclear plan repeats the step whose result nobody knows, so look at the cluster "
              "first. Needs the role admin.",
          .arguments = {{.name = "PLAN", .help = "the number of the plan"}},
          .options = with({comment_option()}, order_options()),
          .examples = {{"wardmote approve 3", "the plan begins at once"}},
          .run = run_approve};
}

Command reject() {
  return {.name = "reject",
          .summary = "end a plan; a running plan ends before its next step",
          .description =
              "The agent makes no new plan for this member or server until it was well, also after "
              "a restart. Needs the role operator.",
          .arguments = {{.name = "PLAN", .help = "the number of the plan"}},
          .options = with({comment_option()}, order_options()),
          .examples = {{"wardmote reject 3 --comment by-hand", "with a comment for others"}},
          .run = run_reject};
}

Command pause() {
  return {.name = "pause",
          .summary = "keep the agent from repairs, for a time or until resume",
          .description =
              "A step that already runs is finished. Without a cluster also the leaders of "
              "version gates stop, and what they run ends at once. Needs the role "
              "operator.",
          .arguments = {{.name = "CLUSTER",
                         .help = "the name of the cluster (default: all clusters)",
                         .required = false}},
          .options = with({{.name = "for",
                            .value = "DURATION",
                            .help = "how long, for example 2h (default: until resume)"}},
                          order_options()),
          .examples = {{"wardmote pause --for 2h", "while people work on the clusters"}},
          .run = run_pause};
}

Command resume() {
  return {.name = "resume",
          .summary = "end a pause",
          .arguments = {{.name = "CLUSTER",
                         .help = "the name of the cluster (default: all clusters)",
                         .required = false}},
          .options = order_options(),
          .examples = {{"wardmote resume", "plans that waited continue"}},
          .run = run_resume};
}

}  // namespace wardmote::cli
