#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/output.h"
#include "cli/render/fields.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "runtime/http.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::HttpResponse;
using runtime::Task;

constexpr int kGood = 200;
constexpr int kRefused = 422;

Exit say(const Call& call, const HttpResponse& response) {
  boost::system::error_code not_json;
  const json::value body = json::parse(response.body, not_json);
  const Fields told(body);
  if (response.status == kGood) {
    print(fmt::format("{} {}\n", told.text("outcome"), told.text("hash")));
    if (const auto keys = told.texts("restart_needed"); !keys.empty()) {
      print_error(
          fmt::format("restart needed: {} of this file counts from the agent's next start on\n",
                      fmt::join(keys, ", ")));
    }
    return Exit::kGood;
  }
  const std::string message = told.object("error").text("message");
  if (response.status == kRefused) {
    for (const std::string& problem : told.object("error").texts("problems"))
      print_error(problem + "\n");
    return complain(call, Exit::kBadConfig, message);
  }
  const bool denied = response.status == 401 || response.status == 403;
  return complain(call, denied ? Exit::kPermission : Exit::kTemporary,
                  fmt::format("the agent answers {}: {}", response.status, message));
}

Task<Exit> order(const Call* call, AgentClient* client) {
  const Answer<HttpResponse> answer = co_await client->post("/api/v1/reload", "{}");
  if (!answer) co_return complain(*call, answer.error().exit, answer.error().message);
  co_return say(*call, *answer);
}

}  // namespace

Exit run_reload(const Call& call) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  Session session;
  AgentClient client(session.runtime(), std::move(*address));
  return session.run(order(&call, &client));
}

}  // namespace wardmote::cli
