#include "serve/bgp/mesh_view.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/incident/graph.h"
#include "judge/outcome.h"
#include "judge/verdict.h"
#include "serve/json.h"
#include "serve/json_values.h"
#include "serve/metrics/exposition.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

json::object node_json(const MeshView::Node& node) {
  json::object object;
  object["name"] = text(node.name);
  object["version"] = text_or_null(node.version);
  object["router_id"] = text_or_null(node.router_id);
  object["reason"] = nullptr;
  if (node.reason.code != judge::ReasonCode::kNone) object["reason"] = to_string(node.reason.code);
  object["detail"] = text_or_null(node.reason.text);
  return object;
}

}  // namespace

json::array matrix_json(const judge::bgp::Mesh& mesh) {
  json::array matrix;
  for (const std::vector<judge::bgp::MeshCell>& row : mesh.cells) {
    json::array cells;
    for (const judge::bgp::MeshCell cell : row) cells.emplace_back(to_string(cell));
    matrix.emplace_back(std::move(cells));
  }
  return matrix;
}

std::string session_node(std::string_view mesh, std::string_view pair) {
  return fmt::format("session:{}/{}", mesh, pair);
}

std::string mesh_node(std::string_view mesh) {
  return fmt::format("mesh:{}", mesh);
}

std::string MeshView::owner() const {
  return mesh_node(id.name);
}

std::string MeshView::component_of(const judge::Finding& finding) const {
  if (finding.subjects.empty()) return owner();
  const std::string& subject = finding.subjects.front();
  return finding.code == judge::Code::kBgpDaemonDown ? judge::incident::check_node(subject)
                                                     : session_node(id.name, subject);
}

json::object MeshView::names() const {
  return {{"mesh", text(id.name, kNameCap)}};
}

json::object MeshView::to_json(Moment at) const {
  json::object object;
  object["mesh"] = text(id.name, kNameCap);
  object["at"] = utc(judged, at);
  object["outcome"] = word(to_string(assessment.outcome));
  object["nodes"] = array_of(nodes, node_json);
  object["matrix"] = matrix_json(assessment.mesh);
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

void MeshView::measure(Exposition& out, Moment) const {
  const std::string_view name[] = {id.name};
  out.add(row_of(kMeshMetrics, "wardmote_mesh_outcome"), name, exit_code_of(assessment.outcome));
  using enum judge::bgp::MeshCell;
  for (const judge::bgp::MeshCell state : {kUp, kDown, kDisabled, kAbsent, kBlind}) {
    std::ptrdiff_t count = 0;
    for (const auto& row : assessment.mesh.cells) count += std::ranges::count(row, state);
    const std::string_view labels[] = {id.name, to_string(state)};
    out.add(row_of(kMeshMetrics, "wardmote_mesh_sessions"), labels, static_cast<double>(count));
  }
  std::map<std::pair<judge::Code, judge::Severity>, int> standing;
  for (const judge::Finding& finding : assessment.findings)
    ++standing[{finding.code, finding.severity}];
  for (const auto& [kind, count] : standing) {
    const std::string_view labels[] = {id.name, to_string(kind.first), to_string(kind.second)};
    out.add(row_of(kMeshMetrics, "wardmote_mesh_finding"), labels, count);
  }
}

}  // namespace wardmote::serve
