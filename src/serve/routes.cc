#include "serve/routes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/serialize.hpp>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/http.h"
#include "serve/history.h"
#include "serve/json.h"
#include "serve/metrics/metrics.h"
#include "serve/page.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using runtime::HttpRequest;
using runtime::HttpResponse;

HttpResponse json_response(const json::object& body, int status = 200) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = json::serialize(body) + "\n";
  return response;
}

HttpResponse error(int status, std::string_view message) {
  json::object details;
  details["status"] = status;
  details["message"] = message;
  json::object body;
  body["error"] = std::move(details);
  return json_response(body, status);
}

HttpResponse asset(std::string_view content_type, std::string_view text) {
  HttpResponse response;
  response.content_type = content_type;
  response.body = text;
  return response;
}

json::object dated(const AgentView& view, std::string_view key, json::array list) {
  json::object body;
  body["at"] = format_utc(view.wall_now);
  body[key] = std::move(list);
  return body;
}

/// The lists `key` of all clusters as one, each item with the name of its cluster and database
/// first.
json::array from_clusters(const AgentView& view, std::string_view key) {
  json::array all;
  for (const ClusterView& cluster : view.clusters) {
    json::object whole = to_json(cluster, view.now, view.wall_now);
    for (const json::value& item : whole[key].as_array()) {
      json::object named;
      named["cluster"] = whole["cluster"];
      named["database"] = whole["database"];
      for (const auto& [name, value] : item.as_object()) named[name] = value;
      all.emplace_back(std::move(named));
    }
  }
  return all;
}

HttpResponse page(const AgentView&) {
  return asset("text/html; charset=utf-8", kPageHtml);
}
HttpResponse page_js(const AgentView&) {
  return asset("text/javascript; charset=utf-8", kPageJs);
}
HttpResponse page_css(const AgentView&) {
  return asset("text/css; charset=utf-8", kPageCss);
}

HttpResponse status(const AgentView& view) {
  return json_response(to_json(view));
}

HttpResponse members(const AgentView& view) {
  return json_response(dated(view, "members", from_clusters(view, "members")));
}

HttpResponse findings(const AgentView& view) {
  return json_response(dated(view, "findings", from_clusters(view, "findings")));
}

HttpResponse checks(const AgentView& view) {
  json::array all;
  for (const CheckView& check : view.checks) all.push_back(to_json(check, view.now));
  return json_response(dated(view, "checks", std::move(all)));
}

HttpResponse clusters(const AgentView& view) {
  json::array all;
  for (const ClusterView& one : view.clusters) all.push_back(to_json(one, view.now, view.wall_now));
  return json_response(dated(view, "clusters", std::move(all)));
}

HttpResponse cluster(const AgentView& view, std::string_view name) {
  const auto found = std::ranges::find(view.clusters, name, &ClusterView::name);
  if (found != view.clusters.end()) return json_response(to_json(*found, view.now, view.wall_now));
  return error(404, fmt::format("no cluster is named '{}'", escape_control(name, 64)));
}

HttpResponse history(const AgentView& view, std::string_view query) {
  if (view.history == nullptr) return error(404, "this agent keeps no history");
  const auto wanted = parse_event_query(query, view.wall_now);
  if (!wanted) return error(400, wanted.error().context);
  return json_response(history_json(*view.history, *wanted, view.wall_now));
}

HttpResponse metrics(const AgentView& view) {
  return asset("text/plain; version=0.0.4; charset=utf-8", expose_metrics(view));
}

/// As kube-apiserver answers: `ok`, or a line for each check that fails and a last line.
HttpResponse gate_response(const GateView* gate, std::string_view probe) {
  HttpResponse response;
  response.body = "ok";
  if (gate == nullptr || gate->ready) return response;
  response.status = 503;
  response.body.clear();
  for (const std::string& name : gate->failing)
    response.body += fmt::format("[-]{} failed\n", name);
  response.body += fmt::format("{} check failed\n", probe);
  return response;
}

const GateView* find_gate(const AgentView& view, std::string_view name) {
  const auto found = std::ranges::find(view.gates, name, &GateView::name);
  return found == view.gates.end() ? nullptr : &*found;
}

HttpResponse livez(const AgentView& view) {
  return gate_response(find_gate(view, "live"), "livez");
}

HttpResponse readyz(const AgentView& view) {
  // An agent without the gate has not been set up: that is not ready.
  static const GateView kNoGate{"ready", false, {}};
  const GateView* const gate = find_gate(view, "ready");
  return gate_response(gate == nullptr ? &kNoGate : gate, "readyz");
}

struct Route {
  std::string_view path;
  HttpResponse (*answer)(const AgentView&);
};

constexpr Route kRoutes[] = {
    {"/", page},
    {"/page.js", page_js},
    {"/page.css", page_css},
    {"/livez", livez},
    {"/readyz", readyz},
    {"/metrics", metrics},
    {"/api/v1/status", status},
    {"/api/v1/members", members},
    {"/api/v1/findings", findings},
    {"/api/v1/checks", checks},
    {"/api/v1/clusters", clusters},
};

HttpResponse answer(const AgentView& view, const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse response = error(405, "this API only reads: use GET");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  for (const Route& row : kRoutes) {
    if (row.path == request.path) return row.answer(view);
  }
  if (request.path == "/api/v1/history") return history(view, request.query);
  std::string_view name = request.path;
  if (consume_prefix(name, "/api/v1/clusters/") && !name.empty()) return cluster(view, name);
  return error(404, fmt::format("nothing is served at '{}'", escape_control(request.path, 128)));
}

}  // namespace

HttpResponse route(const AgentView& view, const HttpRequest& request) {
  HttpResponse response = answer(view, request);
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; "
      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'");
  return response;
}

}  // namespace wardmote::serve
