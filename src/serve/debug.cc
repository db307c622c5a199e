#include "serve/debug.h"

#include <boost/json/object.hpp>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/answer.h"
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

}  // namespace wardmote::serve
