#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/reading.h"
#include "cli/render/agent.h"
#include "cli/render/agents.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"
#include "cli/render/plans.h"
#include "cli/render/style.h"
#include "cli/render/top.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

using More = std::vector<Reading::More>;

Exit exit_by_verdict(const boost::json::value& shown) {
  return exit_of_verdict(Fields(shown).raw("verdict"));
}

std::vector<std::string> its_name(const boost::json::value& shown) {
  return {name_of_thing(shown)};
}

const Reading::More kAgents{"/api/v1/agents", "agents"};
const Reading::More kPlans{"/api/v1/plans", "plans"};

/// What of all this is only this agent's own view stands first.
std::string draw_status(const boost::json::value& shown, Style style) {
  const boost::json::object* const status = shown.if_object();
  const boost::json::value* const agents = status ? status->if_contains(kAgents.key) : nullptr;
  return (agents ? draw_isolation(*agents, style) : "") + draw_agent(shown, style) +
         draw_open_plans(Fields(shown).object(kPlans.key), "", style);
}

/// A finding may be what the agent itself repairs just now.
std::string draw_with_plans(const boost::json::value& shown, Style style) {
  const Fields thing(shown);
  std::string drawn = draw_thing(shown, style);
  if (!thing.has("cluster")) return drawn;
  return drawn + draw_open_plans(thing.object(kPlans.key), thing.raw("cluster"), style);
}

}  // namespace

Exit run_status(const Call& call) {
  const bool for_people = !for_programs(format_of(call));
  if (call.has("CLUSTER")) {
    // All of them have names that differ.
    const std::string name = call.value("CLUSTER");
    return read(call, {.path = "/api/v1/clusters/" + name,
                       .otherwise = {"/api/v1/etcd/" + name, "/api/v1/meshes/" + name,
                                     "/api/v1/failover/" + name},
                       .also = for_people ? More{kPlans} : More{},
                       .draw = draw_with_plans,
                       .judge = exit_of_thing,
                       .shape = {.names = its_name}});
  }
  if (call.has("all")) {
    return read(call, {.path = "/api/v1/agents",
                       .draw = draw_all_agents,
                       .judge = exit_of_all_agents,
                       .shape = {"agents", [](const boost::json::value& shown) {
                                   return names_in(shown, "agents", "name");
                                 }}});
  }
  return read(call, {.path = "/api/v1/status",
                     .also = for_people ? More{kAgents, kPlans} : More{},
                     .draw = draw_status,
                     .judge = exit_by_verdict,
                     .shape = {.names = names_of_all}});
}

Exit run_top(const Call& call) {
  return read(call, {.path = "/api/v1/status",
                     .draw = draw_top,
                     .judge = exit_by_verdict,
                     .shape = {.names = names_of_all},
                     .keeps_on = true});
}

}  // namespace wardmote::cli
