#pragma once

#include <string>
#include <vector>

#include "serve/metrics/exposition.h"

namespace wardmote::serve {

/// One number that a probe saw.
struct Measurement {
  Metric metric = nullptr;            ///< whose first label is the check
  std::vector<std::string> labels{};  ///< the values of its other labels
  double value = 0;
};

using Measurements = std::vector<Measurement>;

}  // namespace wardmote::serve
