#include "serve/routes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/finding.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/embedded.h"
#include "serve/event_stream.h"
#include "serve/gates.h"
#include "serve/incidents.h"
#include "serve/json.h"
#include "serve/mesh_json.h"
#include "serve/metrics/metrics.h"
#include "serve/notify_desk.h"
#include "serve/plans.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using runtime::HttpResponse;

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

HttpResponse page(const Ask&) {
  return text_answer("text/html; charset=utf-8", kPageHtml);
}
HttpResponse page_js(const Ask&) {
  return text_answer("text/javascript; charset=utf-8", kPageJs);
}
HttpResponse page_css(const Ask&) {
  return text_answer("text/css; charset=utf-8", kPageCss);
}

HttpResponse openapi(const Ask&) {
  return text_answer("application/json", kOpenapi);
}

HttpResponse status(const Ask& ask) {
  return json_answer(to_json(ask.view));
}

HttpResponse members(const Ask& ask) {
  return json_answer(dated(ask.view, "members", from_clusters(ask.view, "members")));
}

HttpResponse findings(const Ask& ask) {
  json::array all = from_clusters(ask.view, "findings");
  for (const MeshView& mesh : ask.view.meshes) {
    for (const judge::Finding& finding : mesh.assessment.findings) {
      json::object named;
      named["mesh"] = escape_control(mesh.name);
      for (auto& [name, value] : to_json(finding, ask.view.now, ask.view.wall_now))
        named[name] = std::move(value);
      all.emplace_back(std::move(named));
    }
  }
  return json_answer(dated(ask.view, "findings", std::move(all)));
}

HttpResponse whoami(const Ask& ask) {
  return json_answer({{"name", escape_control(ask.who.name)}, {"role", to_string(ask.who.role)}});
}

HttpResponse checks(const Ask& ask) {
  json::array all;
  for (const CheckView& check : ask.view.checks) all.push_back(to_json(check, ask.view.now));
  return json_answer(dated(ask.view, "checks", std::move(all)));
}

HttpResponse meshes(const Ask& ask) {
  json::array all;
  for (const MeshView& one : ask.view.meshes)
    all.push_back(to_json(one, ask.view.now, ask.view.wall_now));
  return json_answer(dated(ask.view, "meshes", std::move(all)));
}

HttpResponse clusters(const Ask& ask) {
  json::array all;
  for (const ClusterView& one : ask.view.clusters)
    all.push_back(to_json(one, ask.view.now, ask.view.wall_now));
  return json_answer(dated(ask.view, "clusters", std::move(all)));
}

HttpResponse cluster(const Ask& ask) {
  const auto found = std::ranges::find(ask.view.clusters, ask.name, &ClusterView::name);
  if (found != ask.view.clusters.end())
    return json_answer(to_json(*found, ask.view.now, ask.view.wall_now));
  return error_answer(404, fmt::format("no cluster is named '{}'", escape_control(ask.name, 64)));
}

}  // namespace

std::vector<Route> reading_routes() {
  using enum Role;
  std::vector<Route> routes = {
      {"GET", "/", kNone, page},
      {"GET", "/page.js", kNone, page_js},
      {"GET", "/page.css", kNone, page_css},
      {"GET", "/api/v1/openapi.json", kViewer, openapi},
      {"GET", "/api/v1/status", kViewer, status},
      {"GET", "/api/v1/whoami", kViewer, whoami},
      {"GET", "/api/v1/members", kViewer, members},
      {"GET", "/api/v1/findings", kViewer, findings},
      {"GET", "/api/v1/checks", kViewer, checks},
      {"GET", "/api/v1/meshes", kViewer, meshes},
      {"GET", "/api/v1/clusters", kViewer, clusters},
      {"GET", "/api/v1/clusters/{name}", kViewer, cluster},
  };
  std::ranges::move(gate_routes(), std::back_inserter(routes));
  return routes;
}

Route metrics_route(const IncidentDesk& incidents, const NotifyDesk& notify,
                    const PlanDesk& plans) {
  return {"GET", "/metrics", Role::kViewer, [&incidents, &notify, &plans](const Ask& ask) {
            const Desks desks{incidents, notify, plans};
            return text_answer("text/plain; version=0.0.4; charset=utf-8",
                               expose_metrics(ask.view, &desks));
          }};
}

Route events_route(EventStream& events) {
  return {"GET", "/api/v1/events", Role::kViewer, [&events](const Ask& ask) {
            std::string last_id(header(ask.request, "last-event-id"));
            if (last_id.empty()) last_id = Query(ask.request.query).value("after");
            HttpResponse response = text_answer("text/event-stream", "");
            response.stream = events.follow(last_id);
            if (response.stream == nullptr) {
              return error_answer(503, "too many readers follow the events already");
            }
            response.headers.emplace_back("X-Accel-Buffering", "no");  // nginx passes it on at once
            return response;
          }};
}

}  // namespace wardmote::serve
