#include "serve/mesh_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "serve/json.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& raw) {
  return raw.empty() ? json::value(nullptr) : json::value(escape_control(raw));
}

json::object node_json(const MeshView::Node& node) {
  json::object object;
  object["name"] = escape_control(node.name);
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

json::object to_json(const MeshView& mesh, TimePoint now, WallTime wall_now) {
  json::object object;
  object["mesh"] = escape_control(mesh.name);
  object["at"] = format_utc(wall_now - (now - mesh.judged));
  object["outcome"] = to_string(mesh.assessment.outcome);
  json::array nodes;
  for (const MeshView::Node& node : mesh.nodes) nodes.emplace_back(node_json(node));
  object["nodes"] = std::move(nodes);
  object["matrix"] = matrix_json(mesh.assessment.mesh);
  json::array findings;
  for (const judge::Finding& finding : mesh.assessment.findings)
    findings.emplace_back(to_json(finding, now, wall_now));
  object["findings"] = std::move(findings);
  object["observed"] = observed_json(mesh.assessment.observed, now, wall_now);
  return object;
}

}  // namespace wardmote::serve
