#pragma once

#include "judge/observation.h"
#include "serve/metrics/measurement.h"

namespace wardmote::serve {

/// Of a probe of a BGP daemon: its sessions in numbers, the first 256 of them. `session` is the
/// name of the protocol at this end, `neighbor` the address of the other. Of another probe:
/// nothing.
void measure_sessions(const judge::Observation& seen, Measurements& into);

}  // namespace wardmote::serve
