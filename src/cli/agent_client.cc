#include "cli/agent_client.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <expected>
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

struct Attempt {
  Endpoint endpoint;
  Error error;
};

Failure unreachable(const std::vector<Attempt>& attempts) {
  std::vector<std::string> places;
  bool denied = false;
  for (const Attempt& attempt : attempts) {
    places.push_back(
        fmt::format("{} ({})", to_string(attempt.endpoint), to_string(attempt.error.code)));
    denied = denied || attempt.error.code == Errc::kDenied;
  }
  const std::string where = escape_control(fmt::format("{}", fmt::join(places, " or ")));
  if (denied) {
    return {Exit::kPermission, fmt::format("may not talk to the agent at {}. Run it as root, or "
                                           "join the group that owns the socket.",
                                           where)};
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
  if (response.status == 404) return {Exit::kUsage, said};
  return {response.status == 503 ? Exit::kTemporary : Exit::kUnreachable, said};
}

Answer<json::value> json_of(const Answer<HttpResponse>& response, std::string_view path) {
  if (!response) return std::unexpected(response.error());
  if (response->status != 200 && response->status != 201) {
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

Task<Answer<json::value>> AgentClient::get_json(std::string path, std::string query) {
  const Answer<HttpResponse> response = co_await get(path, std::move(query));
  co_return json_of(response, path);
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
