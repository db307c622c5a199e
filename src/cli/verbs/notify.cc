#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/format.h"
#include "cli/ordering.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/render/fields.h"
#include "cli/render/notify.h"
#include "cli/render/style.h"
#include "cli/session.h"
#include "cli/url_query.h"
#include "cli/verbs/verbs.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Task;

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr Duration kPause = std::chrono::milliseconds(200);

/// The receiver of the test with that key, its `last` being that of this test, as soon as it is
/// known; null before. Other notices may have been sent to it since.
Task<Answer<json::value>> fate_of(AgentClient* client, std::string key) {
  const Answer<json::value> all = co_await client->get_json("/api/v1/receivers");
  if (!all) co_return std::unexpected(all.error());
  for (const json::value& each : Fields(*all).list("receivers")) {
    for (const json::value& test : Fields(each).list("tests")) {
      if (Fields(test).raw("key") != key) continue;
      json::object shown = each.as_object();
      shown["last"] = test;
      co_return shown;
    }
  }
  co_return json::value(nullptr);
}

Task<Exit> test_receiver(const Call* call, runtime::Runtime* runtime, AgentClient* client) {
  const std::string receiver = call->value("RECEIVER");
  const Answer<json::value> begun =
      co_await client->order("POST", "/api/v1/receivers/" + receiver + "/test", {});
  if (!begun) co_return complain(*call, begun.error().exit, begun.error().message);
  const std::string key(Fields(*begun).raw("key"));
  const TimePoint end = runtime->now() + kPatience;
  while (runtime->now() < end) {
    const Answer<json::value> fate = co_await fate_of(client, key);
    if (!fate) co_return complain(*call, fate.error().exit, fate.error().message);
    if (!fate->is_null()) {
      const Fields last = Fields(*fate).object("last");
      const Format format = format_of(*call);
      print(for_programs(format) ? written(format, *fate) : draw_test(*fate));
      co_return last.flag("good") ? Exit::kGood : Exit::kCritical;
    }
    co_await runtime->sleep_until(runtime->now() + kPause);
  }
  co_return complain(*call, Exit::kUnknown, "the receiver has not answered yet");
}

}  // namespace

Exit run_silence_list(const Call& call) {
  return read(
      call, {.path = "/api/v1/silences",
             .draw = draw_silences,
             .judge = [](const json::value&) { return Exit::kGood; },
             .shape = {"silences", [](const json::value& shown) { return silence_names(shown); }}});
}

Exit run_silence_add(const Call& call) {
  Order order{.path = "/api/v1/silences", .draw = draw_silence};
  json::array match;
  for (const std::string& matcher : call.values("match")) match.emplace_back(matcher);
  order.body["match"] = std::move(match);
  order.body["for"] = call.value("for");
  order.body["comment"] = call.value("comment");
  return give(call, std::move(order));
}

Exit run_silence_expire(const Call& call) {
  if (!parse_number<std::int64_t>(call.value("SILENCE"))) {
    return complain(call, Exit::kUsage, "SILENCE: write its number, for example 3");
  }
  return give(call, {.method = "DELETE",
                     .path = "/api/v1/silences/" + call.value("SILENCE"),
                     .draw = [](const json::value& answer, Style) {
                       return fmt::format("silence {} has ended\n",
                                          Fields(answer).number("id").value_or(0));
                     }});
}

Exit run_get_receivers(const Call& call) {
  return read(call, {.path = "/api/v1/receivers",
                     .draw = draw_receivers,
                     .judge = exit_of_receivers,
                     .shape = {"receivers", [](const json::value& shown) {
                                 return names_in(shown, "receivers", "name");
                               }}});
}

Exit run_route_test(const Call& call) {
  std::vector<std::pair<std::string_view, std::string>> labels;
  for (const std::string& label : call.values("label")) {
    if (!label.contains('=')) {
      return complain(call, Exit::kUsage, "label: write for example root=cluster:ovn-nb");
    }
    labels.emplace_back("label", label);
  }
  return read(call, {.path = "/api/v1/routes",
                     .query = url_query(labels),
                     .draw = draw_route_test,
                     .judge = exit_of_route_test,
                     .shape = {"routes", [](const json::value& shown) {
                                 std::vector<std::string> names;
                                 for (const json::value& name : Fields(shown).list("receivers"))
                                   names.emplace_back(name.as_string());
                                 return names;
                               }}});
}

Exit run_notify_test(const Call& call) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  Session session;
  AgentClient client(session.runtime(), std::move(*address));
  return session.run(test_receiver(&call, &session.runtime(), &client));
}

}  // namespace wardmote::cli
