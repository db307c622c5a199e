#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/dialect.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {

/// The member's report in these lines if it gives its status, else its local view, else the reason
/// for its silence.
Evidence testify(const Member& member, std::initializer_list<Line> lines);
/// A line of the member's list.
Evidence testify(const Member& member, const Server& line);
/// The member's whole list in short; it gives its status.
Evidence testify_list(const Member& member);
/// The line of the server in the leader's list, else in the newest one; empty when the list is only
/// remembered.
std::vector<Evidence> testify(const ClusterSnapshot& snapshot, const ListedServer& listed);

/// Every name of the thing: member name, server id, address; unknown ones are left out.
std::vector<std::string> names(const Member& member);
std::vector<std::string> names(const ListedServer& listed);

/// For sentences: `ctl-2 (499b)`, `499b`.
std::string label(const Member& member);
std::string label(const ListedServer& listed);

/// Of a server in the keys of conditions: four digits, in every dialect.
std::string key_of(const ListedServer& listed);

/// `cannot be reached (refused)`: why a member does not answer.
std::string describe(const Reason& reason);

}  // namespace wardmote::judge::raft
