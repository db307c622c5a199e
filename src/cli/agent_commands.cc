#include "cli/agent_commands.h"

#include <vector>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Command get_agents() {
  return {.name = "agents",
          .summary = "list the agents that share a store, and which of them are there",
          .options = reading_options(),
          .examples = {{"wardmote get agents", "the view of the agent on this host"}},
          .run = run_get_agents};
}

std::vector<Option> status_options() {
  std::vector<Option> options = reading_options();
  options.insert(options.begin(),
                 {.name = "all",
                  .value = "",
                  .help = "show what each agent that shares the store says is wrong",
                  .letter = 'a'});
  return options;
}

Command elect_group() {
  return {
      .name = "elect",
      .summary = "show the election among agents that share a store",
      .commands = {
          {.name = "status",
           .summary = "show who leads, and who stands in the queue",
           .description =
               "The leader alone notifies and acts. Ends with 2 when nobody leads, and with 3 when "
               "this agent has not heard from the store for 10 seconds.",
           .options = reading_options(),
           .examples = {{"wardmote elect status", "the view of the agent on this host"}},
           .run = run_elect_status}}};
}

}  // namespace wardmote::cli
