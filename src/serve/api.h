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

class Renderer;

/// Everything that is served over HTTP: finds the route of a request, checks the caller's role, and
/// answers. Other parts add their routes. Every order leaves a line in the log, also a refused one.
/// Thread: the core loop.
class Api {
 public:
  /// Adds the reading routes (routes.h); `renderer` renders their long answers and outlives it
  /// (null: they are rendered at once). `view` is called for each request.
  Api(std::function<const AgentView&()> view, AccessRules rules, Renderer* renderer = nullptr);

  void add(Route route) { routes_.push_back(std::move(route)); }
  void add(std::vector<Route> routes) {
    for (Route& route : routes) routes_.push_back(std::move(route));
  }
  [[nodiscard]] std::span<const Route> routes() const noexcept { return routes_; }
  void set_rules(AccessRules rules) { rules_ = std::move(rules); }

  /// Always returns an answer; errors are JSON with a status (answer.h).
  [[nodiscard]] runtime::HttpResponse answer(const runtime::HttpRequest& request);
  /// The answer with which a request is refused before its body is read; nothing when the body may
  /// come. answer() checks again, because the rules may change while a body arrives.
  [[nodiscard]] std::optional<runtime::HttpResponse> refuse_unread(
      const runtime::HttpRequest& head);

 private:
  /// The route and the name in its path, or why there is none.
  struct Found {
    const Route* route = nullptr;
    std::string_view name;
    runtime::HttpResponse refusal;
  };

  [[nodiscard]] Found find(const runtime::HttpRequest& request) const;
  /// Who asks, or why the caller is turned away.
  using Admitted = std::expected<Who, runtime::HttpResponse>;
  [[nodiscard]] Admitted admit(const Route& route, const runtime::HttpRequest& request,
                               TimePoint now);
  [[nodiscard]] runtime::HttpResponse turn_away(const Stranger& stranger,
                                                const runtime::HttpRequest& request, TimePoint now);
  /// Why `who` may not send this request; nothing when he may.
  [[nodiscard]] std::optional<runtime::HttpResponse> refuse(
      const Route& route, const Who& who, const runtime::HttpRequest& request) const;

  [[nodiscard]] Who known_or_nobody(const std::expected<Who, Stranger>& who,
                                    const runtime::HttpRequest& request) const;
  [[nodiscard]] bool is_misled(const runtime::HttpRequest& request) const;

  std::function<const AgentView&()> view_;
  AccessRules rules_;
  std::vector<Route> routes_;
  Renderer* renderer_;
  RateLimit orders_;
  RateLimit strangers_;
};

}  // namespace wardmote::serve
