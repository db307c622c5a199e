#include "serve/api.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/route.h"
#include "serve/routes.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using runtime::HttpRequest;
using runtime::HttpResponse;

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

}  // namespace

Api::Api(std::function<const AgentView&()> view)
    : view_(std::move(view)), routes_(reading_routes()) {}

HttpResponse Api::answer(const HttpRequest& request) const {
  HttpResponse response = find_and_answer(request);
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

HttpResponse Api::find_and_answer(const HttpRequest& request) const {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  std::vector<std::string_view> allowed;
  for (const Route& route : routes_) {
    const std::optional<std::string_view> name = match(route.path, request.path);
    if (!name) continue;
    if (reads ? route.method == "GET" : route.method == request.method)
      return route.answer({view_(), request, *name});
    allowed.push_back(route.method);
    if (route.method == "GET") allowed.emplace_back("HEAD");
  }
  if (!allowed.empty()) return wrong_method(allowed);
  return error_answer(404,
                      fmt::format("nothing is served at '{}'", escape_control(request.path, 128)));
}

}  // namespace wardmote::serve
