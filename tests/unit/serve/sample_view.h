#pragma once

#include "serve/raft/cluster_view.h"
#include "serve/view.h"

namespace wardmote::serve {

/// An agent that watches one healthy cluster of three members, `ovn-nb`; ctl-1 leads. Ids and
/// addresses are those of a real cluster (tests/data). Seen 250 ms ago, judged 200 ms ago.
AgentView sample_agent();
/// Its cluster.
ClusterView sample_cluster();
/// The same agent with this one instead.
AgentView agent_with(ClusterView cluster);

/// The same with ctl-3 hung and a critical finding about it.
AgentView sample_agent_with_a_hung_member();
ClusterView cluster_with_a_hung_member();

}  // namespace wardmote::serve
