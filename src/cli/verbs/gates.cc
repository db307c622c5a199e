#include <string>
#include <string_view>
#include <utility>

#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "runtime/http.h"

namespace wardmote::cli {
namespace {

using runtime::HttpResponse;
using runtime::Task;

std::string query_of(const Call& call) {
  std::string query;
  if (call.has("verbose")) query = "verbose";
  for (const std::string& check : call.values("exclude")) {
    query += (query.empty() ? "exclude=" : "&exclude=") + percent_encode_value(check);
  }
  return query;
}

/// Any status but 200 means "no", as for every other caller of these paths.
Task<Exit> ask(const Call* call, AgentClient* client, std::string path) {
  const std::string query = query_of(*call);
  const Answer<HttpResponse> answer = co_await client->get(path, query);
  if (!answer) co_return complain(*call, answer.error().exit, answer.error().message);
  std::string_view rest = trim(answer->body);
  while (!rest.empty()) print(escape_control(take_until(rest, '\n')) + "\n");
  co_return answer->status == 200 ? Exit::kGood : Exit::kCritical;
}

Exit run_gate(const Call& call, std::string path) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  Session session;
  AgentClient client(session.runtime(), std::move(*address));
  return session.run(ask(&call, &client, std::move(path)));
}

}  // namespace

Exit run_livez(const Call& call) {
  return run_gate(call, "/livez");
}
Exit run_readyz(const Call& call) {
  return run_gate(call, "/readyz");
}

}  // namespace wardmote::cli
