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
#include "cli/render/style.h"
#include "cli/render/top.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Exit exit_by_verdict(const boost::json::value& shown) {
  return exit_of_verdict(Fields(shown).raw("verdict"));
}

std::vector<std::string> its_name(const boost::json::value& shown) {
  return {name_of_thing(shown)};
}

/// What of all this is only this agent's own view stands first.
std::string draw_status(const boost::json::value& shown, Style style) {
  const boost::json::object* const status = shown.if_object();
  const boost::json::value* const agents = status ? status->if_contains("more") : nullptr;
  return (agents ? draw_isolation(*agents, style) : "") + draw_agent(shown, style);
}

}  // namespace

Exit run_status(const Call& call) {
  if (call.has("CLUSTER")) {
    // All of them have names that differ.
    const std::string name = call.value("CLUSTER");
    return read(call, {.path = "/api/v1/clusters/" + name,
                       .otherwise = {"/api/v1/etcd/" + name, "/api/v1/meshes/" + name,
                                     "/api/v1/failover/" + name},
                       .draw = draw_thing,
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
  const bool for_people = !for_programs(format_of(call));
  return read(call, {.path = "/api/v1/status",
                     .also = for_people ? "/api/v1/agents" : "",
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
