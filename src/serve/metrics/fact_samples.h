#pragma once

#include <memory>
#include <span>

#include "judge/observation.h"
#include "serve/metrics/measurement.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

/// What one probe saw in numbers, in the units of Prometheus' conventions: seconds, bytes, ratios;
/// and what the families add. Null when it saw nothing that has numbers. What is not known has
/// none.
std::shared_ptr<const Measurements> measure(const judge::Observation& seen,
                                            std::span<const Family* const> families);

}  // namespace wardmote::serve
