#include "serve/api.h"

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "runtime/http.h"
#include "serve/access.h"
#include "serve/answer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/routes.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using runtime::HttpRequest;
using runtime::HttpResponse;
using namespace std::chrono_literals;

/// What stands for the name in `pattern`, empty if it has none; nothing when `path` is another.
std::optional<std::string_view> match(std::string_view pattern, std::string_view path) {
  std::string_view name;
  for (;;) {
    const std::size_t wanted_end = pattern.find('/');
    const std::size_t given_end = path.find('/');
    const std::string_view wanted = pattern.substr(0, wanted_end);
    const std::string_view given = path.substr(0, given_end);
    const bool is_name = wanted.starts_with('{');
    if (is_name ? given.empty() : given != wanted) return std::nullopt;
    if (is_name) name = given;
    const bool last = wanted_end == std::string_view::npos;
    if (last != (given_end == std::string_view::npos)) return std::nullopt;
    if (last) return name;
    pattern.remove_prefix(wanted_end + 1);
    path.remove_prefix(given_end + 1);
  }
}

HttpResponse wrong_method(const std::vector<std::string_view>& allowed) {
  HttpResponse response =
      error_answer(405, fmt::format("here only {} is possible", fmt::join(allowed, ", ")));
  response.headers.emplace_back("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
  return response;
}

/// Where a request comes from: without the port, which is another one for each connection.
std::string place_of(const HttpRequest& request) {
  if (request.peer.process) return fmt::format("user:{}", request.peer.process->user);
  const std::string& address = request.peer.address;
  return address.substr(0, address.rfind(':'));
}

HttpResponse stranger(std::string_view reason) {
  HttpResponse response = error_answer(401, reason);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"wardmote\"");
  return response;
}

HttpResponse too_often(std::string_view what) {
  HttpResponse response = error_answer(429, what);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

bool is_order(const Route& route) {
  return route.method != "GET";
}

bool has_json(const HttpRequest& request) {
  std::string_view type = header(request, "content-type");
  return trim(take_until(type, ';')) == "application/json";
}

}  // namespace

Api::Api(std::function<const AgentView&()> view, AccessRules rules)
    : view_(std::move(view)),
      rules_(std::move(rules)),
      routes_(reading_routes()),
      orders_(20, 200ms),
      strangers_(10, 1s) {}

HttpResponse Api::answer(const HttpRequest& request) {
  const Found found = find(request);
  HttpResponse response = found.route == nullptr ? found.refusal : admit_and_answer(found, request);
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

Api::Found Api::find(const HttpRequest& request) const {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  std::vector<std::string_view> allowed;
  for (const Route& route : routes_) {
    const std::optional<std::string_view> name = match(route.path, request.path);
    if (!name || (route.local && !request.peer.process)) continue;
    if (reads ? !is_order(route) : route.method == request.method) return {&route, *name, {}};
    allowed.push_back(route.method);
    if (!is_order(route)) allowed.emplace_back("HEAD");
  }
  if (!allowed.empty()) return {nullptr, {}, wrong_method(allowed)};
  return {nullptr,
          {},
          error_answer(
              404, fmt::format("nothing is served at '{}'", escape_control(request.path, 128)))};
}

HttpResponse Api::admit_and_answer(const Found& found, const HttpRequest& request) {
  const Route& route = *found.route;
  const AgentView& view = view_();
  // Before a token is looked at: guessing must not be cheap.
  const bool shows_token = !header(request, "authorization").empty();
  const bool tries_again = shows_token && !strangers_.has(place_of(request), view.now);
  std::expected<Who, Stranger> who = std::unexpected(Stranger{"too many unknown tokens"});
  if (!tries_again) who = identify(rules_, request);
  const bool open = route.least == Role::kNone;
  if (!who && !tries_again) {
    strangers_.take(place_of(request), view.now);
    log(LogLevel::kWarning, "stranger_refused",
        {{"from", place_of(request)},
         {"path", request.path},
         {"reason", std::string(who.error().reason)}});
  }
  if (open) return route.answer({view, request, known_or_nobody(who, request), found.name});
  if (tries_again) return too_often(who.error().reason);
  if (!who) return stranger(who.error().reason);
  std::optional<HttpResponse> refusal = refuse(route, *who, request, view.now);
  const bool refused = refusal.has_value();
  HttpResponse response =
      refused ? *std::move(refusal) : route.answer({view, request, *who, found.name});
  if (is_order(route) && (refused || !route.frequent)) {
    log(refused ? LogLevel::kWarning : LogLevel::kInfo, refused ? "order_refused" : "order",
        {{"who", who->name},
         {"role", std::string(to_string(who->role))},
         {"from", place_of(request)},
         {"method", request.method},
         {"path", request.path},
         {"status", std::to_string(response.status)}});
  }
  return response;
}

/// At an open route nobody is turned away, but only who is known is told more.
Who Api::known_or_nobody(const std::expected<Who, Stranger>& who,
                         const HttpRequest& request) const {
  const bool known = who && !(who->anonymous && is_misled(request));
  return known ? *who : Who{"nobody", Role::kNone, true};
}

bool Api::is_misled(const HttpRequest& request) const {
  return !names_this_host(rules_, header(request, "host"));
}

std::optional<HttpResponse> Api::refuse(const Route& route, const Who& who,
                                        const HttpRequest& request, TimePoint now) {
  if (who.anonymous && is_misled(request)) {
    return error_answer(403,
                        "this host is not known by that name; ask by its address, show a "
                        "token, or name it under api.hosts");
  }
  if (who.role < route.least) {
    const std::string wanted = fmt::format("this needs the role {}", to_string(route.least));
    if (who.anonymous) return stranger(wanted + "; show a token");
    return error_answer(403, fmt::format("{}; {} is {}", wanted, who.name, to_string(who.role)));
  }
  if (!is_order(route)) return std::nullopt;
  if (from_another_site(request)) return error_answer(403, "orders from another site are refused");
  if (request.method != "DELETE" && !has_json(request)) {
    return error_answer(415, "an order has the Content-Type application/json");
  }
  if (!route.frequent && !orders_.take(who.name, now)) return too_often("too many orders at once");
  return std::nullopt;
}

}  // namespace wardmote::serve
