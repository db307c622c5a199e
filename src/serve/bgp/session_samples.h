#pragma once

#include "judge/bgp/facts.h"
#include "serve/metrics/measurement.h"

namespace wardmote::serve {

/// The sessions of one BGP daemon in numbers, the first 256 of them. `session` is the name of the
/// protocol at this end, `neighbor` the address of the other.
void measure_sessions(const judge::bgp::BgpFacts& facts, Measurements& into);

}  // namespace wardmote::serve
