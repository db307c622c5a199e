#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/http.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Everything that is served over HTTP: finds the route of a request and answers. Who has something
/// to serve adds its routes. Thread: the core loop.
class Api {
 public:
  /// With the reading routes (routes.h). `view` is asked for each request.
  explicit Api(std::function<const AgentView&()> view);

  void add(Route route) { routes_.push_back(std::move(route)); }
  [[nodiscard]] std::span<const Route> routes() const noexcept { return routes_; }

  /// Always an answer; what went wrong is JSON with a status (answer.h).
  [[nodiscard]] runtime::HttpResponse answer(const runtime::HttpRequest& request) const;

 private:
  [[nodiscard]] runtime::HttpResponse find_and_answer(const runtime::HttpRequest& request) const;

  std::function<const AgentView&()> view_;
  std::vector<Route> routes_;
};

}  // namespace wardmote::serve
