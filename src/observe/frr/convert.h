#pragma once

#include "judge/bgp/facts.h"
#include "observe/frr/client.h"

namespace wardmote::observe::frr {

/// One session for each neighbour, however many address families it has.
judge::bgp::BgpFacts to_facts(Snapshot snapshot);

}  // namespace wardmote::observe::frr
