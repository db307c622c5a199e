#include "cli/agent_client.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "net/http_fetch.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Endpoint;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Task;

constexpr Duration kTimeout = std::chrono::seconds(5);
/// The longest page of a list that the agent gives.
constexpr int kPage = 1000;
constexpr const char* kApi = "/api/v1/";

struct Attempt {
  Endpoint endpoint;
  Error error;
};

/// A remedy for a server that answers in an unexpected way; empty when there is none.
std::string_view advice_on(const Attempt& attempt) {
  if (attempt.endpoint.kind == Endpoint::Kind::kTls) {
    switch (attempt.error.code) {
      case Errc::kUntrusted:
      case Errc::kExpired:
        return "Name the authority that signed the agent's certificate with --ca, and the agent by "
               "a name in it with --host.";
      case Errc::kDenied:
        return "The agent asks for a certificate that it believes: --cert and --key.";
      case Errc::kInvalid: return "Mend the files that --ca, --cert and --key name.";
      case Errc::kProtocol:
      case Errc::kClosed:
        return "What listens there speaks no TLS, or does not believe the certificate of --cert: "
               "leave out https:// when the agent has no api.tls.";
      default: return {};
    }
  }
  const bool tcp = attempt.endpoint.kind == Endpoint::Kind::kTcp;
  const bool strange = attempt.error.code == Errc::kProtocol || attempt.error.code == Errc::kClosed;
  if (tcp && strange)
    return "What listens there speaks no plain HTTP: write https:// before the host when the agent "
           "has api.tls.";
  return {};
}

Failure unreachable(const std::vector<Attempt>& attempts) {
  std::vector<std::string> places;
  bool denied = false;
  for (const Attempt& attempt : attempts) {
    const bool secured = attempt.endpoint.kind == Endpoint::Kind::kTls;
    const std::string_view why = to_string(attempt.error.code);
    places.push_back(fmt::format("{} ({})", to_string(attempt.endpoint), why));
    // The text of a TLS error says more than its code.
    if (secured) places.back() = attempt.error.describe();
    denied = denied || (attempt.error.code == Errc::kDenied && !secured);
  }
  const std::string where = escape_control(fmt::format("{}", fmt::join(places, " or ")));
  if (denied) {
    return {Exit::kPermission, fmt::format("may not talk to the agent at {}. Run it as root, or "
                                           "join the group that owns the socket.",
                                           where)};
  }
  for (const Attempt& attempt : attempts) {
    if (const std::string_view advice = advice_on(attempt); !advice.empty())
      return {Exit::kUnreachable, fmt::format("cannot talk to the agent at {}. {}", where, advice)};
  }
  return {Exit::kUnreachable, fmt::format("cannot reach the agent at {}. Is wardmoted running? "
                                          "Start it, or say where it is with --host, "
                                          "--socket or WARDMOTE_HOST.",
                                          where)};
}

Failure refused_by_agent(const HttpResponse& response, std::string_view path) {
  boost::system::error_code not_json;
  const json::value body = json::parse(response.body, not_json);
  const std::string message = Fields(body).object("error").text("message");
  const std::string said = fmt::format("the agent answers {} to {}{}", response.status,
                                       escape_control(path), message.empty() ? "" : ": " + message);
  if (response.status == 401 || response.status == 403) return {Exit::kPermission, said};
  const bool later = response.status == 408 || response.status == 429 || response.status == 503;
  if (later) return {Exit::kTemporary, said};
  // The request makes no sense to the server, and would not at another time either.
  const bool nonsense = response.status >= 400 && response.status < 500;
  return {nonsense ? Exit::kUsage : Exit::kUnreachable, said, response.status == 404};
}

Answer<json::value> json_of(const Answer<HttpResponse>& response, std::string_view path) {
  if (!response) return std::unexpected(response.error());
  // 202: an order was taken, and what comes of it is seen later.
  if (response->status != 200 && response->status != 201 && response->status != 202) {
    return std::unexpected(refused_by_agent(*response, path));
  }
  boost::system::error_code not_json;
  json::value value = json::parse(response->body, not_json);
  if (!not_json) return value;
  return std::unexpected(
      Failure{Exit::kUnreachable,
              fmt::format("the answer to {} is not JSON ({}). Does another program listen there?",
                          path, not_json.message())});
}

/// Where the page after this one of a list begins.
std::optional<std::int64_t> next_page(const json::object& answer, const std::string& key) {
  const json::value* const next = answer.if_contains("next");
  const json::value* const list = answer.if_contains(key);
  if (next == nullptr || !next->is_int64() || list == nullptr || !list->is_array()) return {};
  // An offset that goes back would never end.
  if (next->as_int64() < static_cast<std::int64_t>(list->as_array().size())) return {};
  return next->as_int64();
}

void append_page(json::object& whole, const json::value& page, const std::string& key) {
  const json::value* const next = page.is_object() ? page.as_object().if_contains("next") : nullptr;
  const json::value* const list = page.is_object() ? page.as_object().if_contains(key) : nullptr;
  whole["next"] = nullptr;
  if (list == nullptr || !list->is_array() || list->as_array().empty()) return;
  json::array& all = whole[key].as_array();
  all.insert(all.end(), list->as_array().begin(), list->as_array().end());
  if (next != nullptr) whole["next"] = *next;
}

/// The lists of a status that are longer than the part in it.
std::vector<std::string> cut_lists(const json::object& status) {
  std::vector<std::string> cut;
  const json::value* const totals = status.if_contains("totals");
  if (totals == nullptr || !totals->is_object()) return cut;
  for (const auto& [list, total] : totals->as_object()) {
    const json::value* const shown = status.if_contains(list);
    const bool counted = total.is_int64() && shown != nullptr && shown->is_array();
    if (counted && total.as_int64() > static_cast<std::int64_t>(shown->as_array().size()))
      cut.emplace_back(list);
  }
  return cut;
}

}  // namespace

Task<Answer<HttpResponse>> AgentClient::get(std::string path, std::string query) {
  HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  request.query = std::move(query);
  Answer<HttpResponse> answer = co_await ask(std::move(request));
  co_return answer;
}

Task<Answer<HttpResponse>> AgentClient::post(std::string path, std::string json) {
  HttpRequest request;
  request.method = "POST";
  request.path = std::move(path);
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(json);
  Answer<HttpResponse> answer = co_await ask(std::move(request));
  co_return answer;
}

Task<Answer<HttpResponse>> AgentClient::ask(HttpRequest request) {
  if (!address_.token.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + address_.token);
  }
  std::vector<Attempt> attempts;
  for (const Endpoint& endpoint : address_.endpoints) {
    const runtime::Deadline deadline = runtime_->deadline_in(kTimeout);
    Task<Result<HttpResponse>> fetch = net::http_fetch(*runtime_, endpoint, request, deadline);
    Result<HttpResponse> response = co_await std::move(fetch);
    if (response) co_return std::move(*response);
    attempts.push_back({endpoint, response.error()});
  }
  co_return std::unexpected(unreachable(attempts));
}

Task<Answer<json::value>> AgentClient::get_one(std::string path, std::string query) {
  const Answer<HttpResponse> response = co_await get(path, std::move(query));
  co_return json_of(response, path);
}

Task<Answer<json::value>> AgentClient::get_json(std::string path, std::string query) {
  Answer<json::value> answer = co_await get_one(path, query);
  if (!answer || !answer->is_object()) co_return answer;
  json::object& whole = answer->as_object();
  const std::string key = path.substr(path.rfind('/') + 1);
  while (const auto next = next_page(whole, key)) {
    const std::string page =
        fmt::format("{}{}limit={}&offset={}", query, query.empty() ? "" : "&", kPage, *next);
    const Answer<json::value> more = co_await get_one(path, page);
    if (!more) co_return more;
    append_page(whole, *more, key);
  }
  for (const std::string& list : cut_lists(whole)) {
    const std::string of_list = kApi + list;
    Answer<json::value> items = co_await get_json(of_list);
    if (!items) co_return items;
    if (items->is_object() && items->as_object().contains(list))
      whole[list] = std::move(items->as_object()[list]);
  }
  co_return answer;
}

Task<Answer<json::value>> AgentClient::order(std::string method, std::string path,
                                             json::object body) {
  HttpRequest request;
  request.method = std::move(method);
  request.path = path;
  request.headers.emplace_back("content-type", "application/json");
  request.body = json::serialize(body);
  const Answer<HttpResponse> response = co_await ask(std::move(request));
  co_return json_of(response, path);
}

}  // namespace wardmote::cli
