#include "judge/raft/advice.h"

#include <string>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/dialect.h"
#include "judge/raft/member_id.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {

Advice advise_kick(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (const auto reason = objection_to_kick(snapshot, listed)) return {.text = *reason};
  if (snapshot.dialect->kick.empty()) {
    return {.text =
                fmt::format("Do not remove {}: only its host can tell that it is gone for good.",
                            label(listed))};
  }
  const Member& leader = *snapshot.leader;
  Advice advice;
  advice.text = fmt::format("Kick {} at {} from the leader {}.", label(listed), listed.address,
                            label(leader));
  if (listed.successor)
    advice.text += fmt::format(" {} at the same address stays.", label(*listed.successor));
  advice.run_on = leader.name();
  advice.command = leader.opinion->control_command;
  if (advice.command.empty()) return advice;
  const std::string id = listed.id.full() ? to_string(listed.id) : label(listed);
  for (const std::string& argument :
       {std::string(snapshot.dialect->kick), snapshot.expectation->database, id}) {
    advice.command.push_back(argument);
  }
  return advice;
}

}  // namespace wardmote::judge::raft
