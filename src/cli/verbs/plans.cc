#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/ordering.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/render/plans.h"
#include "cli/url_query.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

Exit rule(const Call& call, std::string_view verdict) {
  const std::string number = call.value("PLAN");
  if (!parse_number<std::int64_t>(number)) {
    return complain(call, Exit::kUsage, "PLAN: write its number, for example 3");
  }
  Order order{.path = "/api/v1/plans/" + number + "/" + std::string(verdict), .draw = draw_plan};
  order.body["comment"] = call.value("comment");
  return give(call, std::move(order));
}

std::string scope_of(const Call& call) {
  return call.has("CLUSTER") ? call.value("CLUSTER") : "all";
}

}  // namespace

Exit run_get_plans(const Call& call) {
  return read(call, {.path = "/api/v1/plans",
                     .query = call.has("all") ? "all=true" : "",
                     .draw = draw_plans,
                     .judge = exit_of_plans,
                     .shape = {"plans", [](const json::value& shown) {
                                 return names_in(shown, "plans", "id");
                               }}});
}

Exit run_get_actions(const Call& call) {
  return read(call, {.path = "/api/v1/actions",
                     .query = url_query({{"plan", call.value("plan")},
                                         {"incident", call.value("incident")},
                                         {"limit", call.value("limit")}}),
                     .draw = draw_actions,
                     .judge = [](const json::value&) { return Exit::kGood; },
                     .shape = {"actions", [](const json::value& shown) {
                                 return names_in(shown, "actions", "sequence");
                               }}});
}

Exit run_plan(const Call& call) {
  Order order{.path = "/api/v1/plans", .draw = draw_plan};
  order.body["cluster"] = call.value("CLUSTER");
  order.body["member"] = call.value("MEMBER");
  return give(call, std::move(order));
}

Exit run_approve(const Call& call) {
  return rule(call, "approve");
}

Exit run_reject(const Call& call) {
  return rule(call, "reject");
}

Exit run_pause(const Call& call) {
  Order order{.path = "/api/v1/pauses", .draw = draw_pauses};
  order.body["scope"] = scope_of(call);
  if (const std::string time = call.value("for"); !time.empty()) order.body["for"] = time;
  return give(call, std::move(order));
}

Exit run_resume(const Call& call) {
  return give(
      call, {.method = "DELETE", .path = "/api/v1/pauses/" + scope_of(call), .draw = draw_pauses});
}

}  // namespace wardmote::cli
