#include "cli/ordering.h"

#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Task;

std::string user_name() {
  for (const char* const variable : {"SUDO_USER", "USER"}) {
    if (auto name = environment(variable); !name.empty()) return name;
  }
  return {};
}

Task<Exit> give_order(const Call* call, AgentClient* client, Order order) {
  const Answer<json::value> answer =
      co_await client->order(order.method, order.path, std::move(order.body));
  if (!answer) co_return complain(*call, answer.error().exit, answer.error().message);
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, *answer) : order.draw(*answer, style_for(*call)));
  co_return Exit::kGood;
}

}  // namespace

Exit give(const Call& call, Order order) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  if (const std::string name = user_name(); !name.empty()) order.body["by"] = name;
  Session session;
  AgentClient client(session.runtime(), std::move(*address));
  return session.run(give_order(&call, &client, std::move(order)));
}

}  // namespace wardmote::cli
