#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "judge/version_gate/report.h"
#include "serve/route.h"

namespace wardmote::serve {

/// The version gates of this agent. Thread: the core loop.
class VersionGatesView {
 public:
  VersionGatesView() = default;
  VersionGatesView(const VersionGatesView&) = delete;
  VersionGatesView& operator=(const VersionGatesView&) = delete;
  virtual ~VersionGatesView() = default;

  /// In the order of the configuration.
  [[nodiscard]] virtual std::vector<judge::version_gate::Report> gates() const = 0;
};

/// As /api/v1/version-gates/NAME and `wardmote wait-ready` show it.
boost::json::object gate_json(const judge::version_gate::Report& report);

/// /api/v1/version-gates and /api/v1/version-gates/{name}. `view` outlives them; null: the agent
/// has none.
std::vector<Route> version_gate_routes(const VersionGatesView* view);

}  // namespace wardmote::serve
