#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/http.h"
#include "serve/access.h"
#include "serve/rate_limit.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Everything that is served over HTTP: finds the route of a request, lets in who may, and answers.
/// Who has something to serve adds its routes. Orders leave a line in the log, the refused ones
/// too. Thread: the core loop.
class Api {
 public:
  /// With the reading routes (routes.h). `view` is asked for each request.
  Api(std::function<const AgentView&()> view, AccessRules rules);

  void add(Route route) { routes_.push_back(std::move(route)); }
  [[nodiscard]] std::span<const Route> routes() const noexcept { return routes_; }
  void set_rules(AccessRules rules) { rules_ = std::move(rules); }

  /// Always an answer; what went wrong is JSON with a status (answer.h).
  [[nodiscard]] runtime::HttpResponse answer(const runtime::HttpRequest& request);

 private:
  /// The route and the name in its path, or why there is none.
  struct Found {
    const Route* route = nullptr;
    std::string_view name;
    runtime::HttpResponse refusal;
  };

  [[nodiscard]] Found find(const runtime::HttpRequest& request) const;
  [[nodiscard]] runtime::HttpResponse admit_and_answer(const Found& found,
                                                       const runtime::HttpRequest& request);
  /// Why `who` may not ask this; nothing when he may.
  [[nodiscard]] std::optional<runtime::HttpResponse> refuse(const Route& route, const Who& who,
                                                            const runtime::HttpRequest& request,
                                                            TimePoint now);

  [[nodiscard]] Who known_or_nobody(const std::expected<Who, Stranger>& who,
                                    const runtime::HttpRequest& request) const;
  [[nodiscard]] bool is_misled(const runtime::HttpRequest& request) const;

  std::function<const AgentView&()> view_;
  AccessRules rules_;
  std::vector<Route> routes_;
  RateLimit orders_;
  RateLimit strangers_;
};

}  // namespace wardmote::serve
