#include "judge/raft/advice.h"

#include <string>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/member_id.h"
#include "judge/raft/quote.h"
#include "judge/raft/removal.h"

namespace wardmote::judge::raft {

std::string recover_quorum() {
  return "Quorum is lost: a kick needs a commit and cannot work. Look on the hosts of those that "
         "do "
         "not answer whether they run, and start them. What remains when they are lost for good "
         "stands on the page of RAFT_NO_QUORUM.";
}

Advice advise_kick(const ClusterSnapshot& snapshot, const ListedServer& listed) {
  if (const auto reason = objection_to_kick(snapshot, listed)) return {.text = *reason};
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
       {std::string("cluster/kick"), snapshot.expectation->database, id}) {
    advice.command.push_back(argument);
  }
  return advice;
}

}  // namespace wardmote::judge::raft
