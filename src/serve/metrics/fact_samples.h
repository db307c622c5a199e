#pragma once

#include <memory>

#include "judge/observation.h"
#include "serve/metrics/measurement.h"

namespace wardmote::serve {

/// What the facts of one probe say in numbers, in the units of Prometheus' conventions: seconds,
/// bytes, ratios. Null when they say nothing. What is not known has no number.
std::shared_ptr<const Measurements> measure(const judge::Facts& facts);

}  // namespace wardmote::serve
