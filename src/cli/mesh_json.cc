#include "cli/mesh_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "judge/bgp/mesh.h"
#include "judge/finding.h"
#include "judge/outcome.h"
#include "serve/bgp/mesh_view.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

json::object to_json(const judge::bgp::MeshView& view) {
  json::object node{{"name", escape_control(view.name)},
                    {"version", nullptr},
                    {"router_id", nullptr},
                    {"reason", nullptr},
                    {"detail", nullptr}};
  if (view.facts) {
    node["version"] = escape_control(view.facts->version);
    node["router_id"] = escape_control(view.facts->router_id);
  } else {
    node["reason"] = to_string(view.reason.code);
    node["detail"] = escape_control(view.reason.text);
  }
  return node;
}

json::object to_json(const judge::bgp::MeshProblem& problem) {
  json::object object{
      {"fault", to_string(problem.fault)},          {"severity", to_string(problem.severity)},
      {"from", escape_control(problem.from)},       {"to", nullptr},
      {"summary", escape_control(problem.summary)}, {"suppressed", problem.suppressed}};
  if (!problem.to.empty()) object["to"] = escape_control(problem.to);
  json::array evidence;
  for (const judge::Evidence& one : problem.evidence)
    evidence.push_back({{"by", escape_control(one.by)}, {"says", escape_control(one.says)}});
  object["evidence"] = std::move(evidence);
  return object;
}

}  // namespace

json::object to_json(const judge::bgp::Mesh& mesh, const std::vector<judge::bgp::MeshView>& views) {
  json::array nodes;
  for (const judge::bgp::MeshView& view : views) nodes.push_back(to_json(view));
  json::array problems;
  for (const judge::bgp::MeshProblem& problem : mesh.problems) problems.push_back(to_json(problem));
  return {{"verdict", to_string(mesh.outcome)},
          {"nodes", std::move(nodes)},
          {"matrix", serve::matrix_json(mesh)},
          {"problems", std::move(problems)}};
}

}  // namespace wardmote::cli
