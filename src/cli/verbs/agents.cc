#include <boost/json/value.hpp>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/reading.h"
#include "cli/render/agents.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

namespace json = boost::json;

Exit run_get_agents(const Call& call) {
  return read(call, {.path = "/api/v1/agents",
                     .draw = draw_agents,
                     .judge = exit_of_agents,
                     .shape = {"agents", [](const json::value& shown) {
                                 return names_in(shown, "agents", "name");
                               }}});
}

Exit run_elect_status(const Call& call) {
  return read(call, {.path = "/api/v1/election",
                     .draw = draw_election,
                     .judge = exit_of_election,
                     .shape = {"candidates", [](const json::value& shown) {
                                 return names_in(shown, "candidates", "name");
                               }}});
}

}  // namespace wardmote::cli
