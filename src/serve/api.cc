#include "serve/api.h"

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
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
#include "runtime/task.h"
#include "serve/access.h"
#include "serve/answer.h"
#include "serve/query.h"
#include "serve/renderer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/routes.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using runtime::HttpRequest;
using runtime::HttpResponse;
using namespace std::chrono_literals;

/// The part of `path` that stands for the name in `pattern`, empty if the pattern has none; nothing
/// when `path` does not match.
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

/// The origin of a request: without the port, which differs for each connection.
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

HttpResponse busy(std::string_view what) {
  HttpResponse response = error_answer(503, what);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse with_headers(HttpResponse response) {
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

/// The log line of one order.
struct Ordered {
  Ordered(const Who& who, const HttpRequest& request)
      : who(who.name),
        role(to_string(who.role)),
        from(place_of(request)),
        method(request.method),
        path(request.path) {}

  void tell(std::string_view event, const std::string& status) const {
    log(event == "order" ? LogLevel::kInfo : LogLevel::kWarning, event,
        {{"who", who},
         {"role", role},
         {"from", from},
         {"method", method},
         {"path", path},
         {"status", status}});
  }

  std::string who;
  std::string role;
  std::string from;
  std::string method;
  std::string path;
};

void log_order(std::string_view event, const Who& who, const HttpRequest& request, int status) {
  Ordered(who, request).tell(event, std::to_string(status));
}

/// Waits as `hold` does, and then logs the final answer to the order.
class ToldHold final : public runtime::HttpHold {
 public:
  ToldHold(std::shared_ptr<runtime::HttpHold> hold, Ordered order, int status)
      : hold_(std::move(hold)), order_(std::move(order)), status_(status) {}
  ToldHold(const ToldHold&) = delete;
  ToldHold& operator=(const ToldHold&) = delete;
  ~ToldHold() override {
    if (!told_) order_.tell("order", "unanswered");
  }

  runtime::Task<std::optional<HttpResponse>> wait() override {
    std::optional<HttpResponse> other = co_await hold_->wait();
    told_ = true;
    order_.tell("order", std::to_string(other ? other->status : status_));
    co_return other;
  }

 private:
  std::shared_ptr<runtime::HttpHold> hold_;
  Ordered order_;
  int status_;
  bool told_ = false;
};

bool is_order(const Route& route) {
  return route.method != "GET";
}

/// Gates have the query fields of kube-apiserver; /metrics and the page ignore unknown fields.
std::optional<HttpResponse> refuse_query(const Route& route, const HttpRequest& request) {
  if (!route.path.starts_with("/api/") && !route.path.starts_with("/debug/")) return std::nullopt;
  const auto unknown = Query(request.query).unknown(route.fields);
  if (!unknown) return std::nullopt;
  return error_answer(400,
                      fmt::format("no field '{}' is known here", escape_control(*unknown, 64)));
}

bool has_json(const HttpRequest& request) {
  std::string_view type = header(request, "content-type");
  return trim(take_until(type, ';')) == "application/json";
}

}  // namespace

Api::Api(std::function<const AgentView&()> view, AccessRules rules, Renderer* renderer)
    : view_(std::move(view)),
      rules_(std::move(rules)),
      routes_(reading_routes(renderer)),
      renderer_(renderer),
      orders_(20, 200ms),
      strangers_(10, 1s) {}

HttpResponse Api::answer(const HttpRequest& request) {
  const Found found = find(request);
  if (found.route == nullptr) return with_headers(found.refusal);
  const Route& route = *found.route;
  const AgentView& view = view_();
  const Admitted who = admit(route, request, view.now);
  if (!who) return with_headers(who.error());
  if (is_order(route) && !route.frequent && !orders_.take(who->name, view.now)) {
    log_order("order_refused", *who, request, 429);
    return with_headers(too_often("too many orders at once"));
  }
  if (auto refusal = refuse_query(route, request)) return with_headers(*std::move(refusal));
  HttpResponse response = route.answer({view, request, *who, found.name});
  if (is_order(route) && !route.frequent) {
    // A caller who gave an order reads its effect next.
    if (renderer_ != nullptr) renderer_->forget();
    if (response.hold == nullptr) {
      log_order("order", *who, request, response.status);
    } else {
      response.hold = std::make_shared<ToldHold>(std::move(response.hold), Ordered(*who, request),
                                                 response.status);
    }
  }
  return with_headers(std::move(response));
}

std::optional<HttpResponse> Api::refuse_unread(const HttpRequest& head) {
  const Found found = find(head);
  if (found.route == nullptr) return with_headers(found.refusal);
  // Most of these routes are open to everybody, but nobody needs to send a megabyte to them.
  if (!is_order(*found.route)) return with_headers(error_answer(413, "here no body is read"));
  const Admitted who = admit(*found.route, head, view_().now);
  if (who) return std::nullopt;
  return with_headers(who.error());
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

Api::Admitted Api::admit(const Route& route, const HttpRequest& request, TimePoint now) {
  if (request.on_reserve && !route.urgent)
    return std::unexpected(busy("every connection is taken; try again"));
  const std::expected<Who, Stranger> who = identify(rules_, request);
  if (route.least == Role::kNone) {
    if (!who) (void)turn_away(who.error(), request, now);
    return known_or_nobody(who, request);
  }
  if (!who) return std::unexpected(turn_away(who.error(), request, now));
  std::optional<HttpResponse> refusal = refuse(route, *who, request);
  if (!refusal) return *who;
  if (is_order(route)) log_order("order_refused", *who, request, refusal->status);
  return std::unexpected(*std::move(refusal));
}

/// A known caller is let in, however often others from the same address have guessed.
HttpResponse Api::turn_away(const Stranger& unknown, const HttpRequest& request, TimePoint now) {
  const std::string place = place_of(request);
  if (!strangers_.take(place, now)) return too_often("too many unknown tokens");
  log(LogLevel::kWarning, "stranger_refused",
      {{"from", place}, {"path", request.path}, {"reason", std::string(unknown.reason)}});
  return stranger(unknown.reason);
}

/// An open route turns nobody away, but only known callers get details.
Who Api::known_or_nobody(const std::expected<Who, Stranger>& who,
                         const HttpRequest& request) const {
  const bool known = who && !(who->anonymous && is_misled(request));
  return known ? *who : Who{"nobody", Role::kNone, true};
}

bool Api::is_misled(const HttpRequest& request) const {
  return !names_this_host(rules_, header(request, "host"));
}

std::optional<HttpResponse> Api::refuse(const Route& route, const Who& who,
                                        const HttpRequest& request) const {
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
  return std::nullopt;
}

}  // namespace wardmote::serve
