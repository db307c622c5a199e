#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/reading.h"
#include "cli/render/agent.h"
#include "cli/render/cluster.h"
#include "cli/render/fields.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Exit exit_by_verdict(const boost::json::value& shown) {
  return exit_of_verdict(Fields(shown).raw("verdict"));
}

}  // namespace

Exit run_status(const Call& call) {
  if (call.has("CLUSTER")) {
    return read(call, {.path = "/api/v1/clusters/" + call.value("CLUSTER"),
                       .draw = draw_cluster,
                       .judge = exit_by_verdict});
  }
  return read(call, {.path = "/api/v1/status", .draw = draw_agent, .judge = exit_by_verdict});
}

}  // namespace wardmote::cli
