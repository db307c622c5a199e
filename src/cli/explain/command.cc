#include "cli/explain/command.h"

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Command explain() {
  return {
      .name = "explain",
      .summary = "explain a finding or an incident, or show all that is known of one thing",
      .description =
          "For a code: its meaning, and the findings, checks and incidents that have it now. For "
          "the number of an incident (write '#' before a number of four digits): what is wrong in "
          "it, and what to do about each of its codes. Otherwise SUBJECT is the name of a member, "
          "check or cluster, a server id (four digits are enough), an address, or the root of an "
          "incident. 'gate' and the name of a version gate: whether this node may serve, who "
          "leads, "
          "who is in the way since when, and what would end that.",
      .arguments = {{.name = "SUBJECT",
                     .help = "a code, the number of an incident, or a name",
                     .completes = Completes::kCodes},
                    {.name = "NAME", .help = "of a version gate", .required = false}},
      .options = reading_options(),
      .examples = {{"wardmote explain RAFT_STALE_MEMBER",
                    "meaning, advice, and where this is the case now"},
                   {"wardmote explain 17", "what is wrong in incident 17, and what to do"},
                   {"wardmote explain e85f", "who lists this server, and what is wrong with it"},
                   {"wardmote explain gate kubernetes", "who blocks a version gate"}},
      .run = run_explain};
}

}  // namespace wardmote::cli
