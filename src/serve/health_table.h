#pragma once

#include <string>
#include <vector>

namespace wardmote::serve {

/// One reporter of a health table.
struct HealthRow {
  std::string component;
  std::string timeout = "-";
  std::string liveness = "-";   ///< `-`, `timed out`, `reporting live`, `reporting non-live`
  std::string readiness = "-";  ///< likewise
  std::string detail;
};

/// The table of Calico's HealthAggregator (libcalico-go lib/health, drawn by go-pretty), rows by
/// component, without a last line end. Unlike the original, control characters in a detail are
/// escaped.
std::string draw_health_table(std::vector<HealthRow> rows);

}  // namespace wardmote::serve
