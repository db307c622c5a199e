#include "serve/debug.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/answer.h"
#include "serve/api.h"
#include "serve/role.h"
#include "serve/route.h"

namespace wardmote::serve {
namespace {

Route local(std::string_view path, std::function<boost::json::object()> source) {
  return {"GET", path, Role::kViewer,
          [source = std::move(source)](const Ask&) { return json_answer(source()); }, true};
}

}  // namespace

std::vector<Route> debug_routes(DebugSources sources) {
  std::vector<Route> routes;
  routes.push_back(local("/debug/tasks", std::move(sources.tasks)));
  routes.push_back(local("/debug/latency", std::move(sources.latency)));
  return routes;
}

Route debug_routes_route(const Api& api) {
  return local("/debug/routes", [&api] {
    boost::json::array routes;
    for (const Route& route : api.routes()) {
      boost::json::object one;
      one["method"] = route.method;
      one["path"] = route.path;
      one["role"] = to_string(route.least);
      one["local"] = route.local;
      routes.push_back(std::move(one));
    }
    return boost::json::object{{"routes", std::move(routes)}};
  });
}

}  // namespace wardmote::serve
