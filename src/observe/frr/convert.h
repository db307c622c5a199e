#pragma once

#include "judge/bgp/facts.h"
#include "observe/frr/client.h"

namespace wardmote::observe::frr {

/// One session for each neighbour, whatever the number of its families.
judge::bgp::BgpFacts to_facts(Snapshot snapshot);

}  // namespace wardmote::observe::frr
