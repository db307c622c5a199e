#include "serve/routes.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/embedded.h"
#include "serve/event_stream.h"
#include "serve/gates.h"
#include "serve/lists.h"
#include "serve/metrics/metrics.h"
#include "serve/public_page.h"
#include "serve/query.h"
#include "serve/renderer.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::serve {
namespace {

using runtime::HttpResponse;

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

HttpResponse whoami(const Ask& ask) {
  return json_answer({{"name", escape_control(ask.who.name)}, {"role", to_string(ask.who.role)}});
}

}  // namespace

std::vector<Route> reading_routes(Renderer* renderer) {
  using enum Role;
  std::vector<Route> routes = {
      {"GET", "/", kNone, page},
      {"GET", "/page.js", kNone, page_js},
      {"GET", "/page.css", kNone, page_css},
      {"GET", "/api/v1/openapi.json", kViewer, openapi},
      {"GET", "/api/v1/whoami", kViewer, whoami},
  };
  std::ranges::move(list_routes(renderer), std::back_inserter(routes));
  std::ranges::move(gate_routes(), std::back_inserter(routes));
  std::ranges::move(public_routes(), std::back_inserter(routes));
  return routes;
}

Route metrics_route(std::function<Controls()> controls, Renderer* renderer) {
  return {"GET", "/metrics", Role::kViewer,
          [controls = std::move(controls), renderer](const Ask& ask) {
            return rendered_answer(renderer, "text/plain; version=0.0.4; charset=utf-8", "/metrics",
                                   [&] { return render_metrics(ask.view, controls()); });
          }};
}

Route events_route(EventStream& events) {
  Route route{"GET", "/api/v1/events", Role::kViewer, [&events](const Ask& ask) {
                std::string last_id(header(ask.request, "last-event-id"));
                if (last_id.empty()) last_id = Query(ask.request.query).value("after");
                HttpResponse response = text_answer("text/event-stream", "");
                response.stream = events.follow(last_id);
                if (response.stream == nullptr) {
                  return error_answer(503, "too many readers follow the events already");
                }
                response.headers.emplace_back("X-Accel-Buffering",
                                              "no");  // nginx passes it on at once
                return response;
              }};
  route.fields = {"after"};
  return route;
}

}  // namespace wardmote::serve
