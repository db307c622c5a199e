#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/bgp/mesh.h"
#include "judge/bgp/mesh_assessment.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "serve/bgp/session_samples.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {

inline constexpr MetricInfo kMeshMetrics[] = {
    {"wardmote_mesh_outcome", MetricType::kGauge, "mesh", "0 ok, 1 warn, 2 fail, 3 unknown."},
    {"wardmote_mesh_sessions", MetricType::kGauge, "mesh,state",
     "Ends of sessions by what their daemons say: up, down, disabled, absent, blind."},
    {"wardmote_mesh_finding", MetricType::kGauge, "mesh,code,severity",
     "Present findings of a BGP mesh, by code and severity."},
    // Of the daemon behind each check, in a mesh or not:
    {"wardmote_bgp_session_up", MetricType::kGauge, "check,session,neighbor",
     "Whether the session is Established, as this end says."},
    {"wardmote_bgp_session_state", MetricType::kGauge, "check,session,neighbor,state",
     "1 for the state of the session."},
    {"wardmote_bgp_session_state_seconds", MetricType::kGauge, "check,session,neighbor",
     "Time since the last change of the session; its uptime while it is up."},
    {"wardmote_bgp_session_routes", MetricType::kGauge, "check,session,neighbor,direction",
     "Routes of the session, imported and exported, over all families."},
    {"wardmote_bgp_session_flaps_total", MetricType::kCounter, "check,session,neighbor",
     "How often the session was lost, as the daemon counts, else since the agent watches it."},
};
inline constexpr Family kMeshFamily{judge::bgp::kMeshKind,   "meshes",     "/api/v1/meshes",
                                    "/api/v1/meshes/{name}", kMeshMetrics, measure_sessions};

/// One BGP mesh, as judged last. Its JSON:
///
/// {"mesh", "at", "outcome", "nodes": [{"name", "version", "router_id", "reason", "detail"}],
///  "matrix", "findings", "observed"}
class MeshView final : public ThingView {
 public:
  /// One of the daemons. The fields about itself are empty while it does not answer.
  struct Node {
    std::string name;
    std::string version;
    std::string router_id;
    judge::Reason reason;  ///< why it does not answer
  };

  explicit MeshView(std::string name) : ThingView({judge::bgp::kMeshKind, std::move(name)}) {}

  std::vector<Node> nodes;
  judge::bgp::MeshAssessment assessment;

  [[nodiscard]] std::span<const judge::Finding> findings() const noexcept override {
    return assessment.findings;
  }
  [[nodiscard]] std::span<const judge::Observed> observed() const noexcept override {
    return assessment.observed;
  }
  /// That nobody knows anything of it, or of a part of it.
  [[nodiscard]] std::optional<judge::Verdict> verdict() const noexcept override {
    if (assessment.outcome != judge::Outcome::kUnknown) return std::nullopt;
    return judge::Verdict::kUnknown;
  }
  [[nodiscard]] std::string owner() const override;
  /// The check of the daemon that is down, else the session.
  [[nodiscard]] std::string component_of(const judge::Finding& finding) const override;
  [[nodiscard]] boost::json::object names() const override;
  [[nodiscard]] boost::json::object to_json(Moment at) const override;
  void measure(Exposition& out, Moment at) const override;
};

/// Who says what of whom, row by row: `self`, `up`, `down`, `disabled`, `absent`, `blind`.
boost::json::array matrix_json(const judge::bgp::Mesh& mesh);

/// The name of a mesh in the graph of incidents, and that of the session between two of its nodes.
std::string mesh_node(std::string_view mesh);
std::string session_node(std::string_view mesh, std::string_view pair);

}  // namespace wardmote::serve
