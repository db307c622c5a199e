#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/version_gate/release.h"
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

  using Written = Result<std::shared_ptr<control::Written>>;

  /// Orders are records in the store. kMissing: there is no such gate, or no such node. kRejected:
  /// why it must not be.
  /// For `time`; zero: until resume.
  virtual Written pause_gate(std::string_view gate, Duration time, std::string by) = 0;
  virtual Written resume_gate(std::string_view gate, std::string by) = 0;
  virtual Written preserve(std::string_view gate, judge::version_gate::Release release,
                           std::string by) = 0;
  virtual Written finalize(std::string_view gate, std::string by) = 0;
  /// The next pass takes over an object that others own; only where this node leads.
  virtual Written adopt(std::string_view gate, std::string object, std::string by) = 0;
  virtual Written forget_node(std::string_view gate, std::string node, std::string by) = 0;
};

/// As /api/v1/version-gates/NAME and `wardmote wait-ready` show it.
boost::json::object gate_json(const judge::version_gate::Report& report);

/// /api/v1/version-gates and what is below it. `view` outlives them; null: the agent
/// has none.
std::vector<Route> version_gate_routes(VersionGatesView* view);

}  // namespace wardmote::serve
