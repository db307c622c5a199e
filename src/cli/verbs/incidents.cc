#include <cstdint>
#include <string>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/ordering.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/render/incidents.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_get_incidents(const Call& call) {
  Reading reading{.path = "/api/v1/incidents",
                  .query = call.has("all") ? "all=true" : "",
                  .draw = draw_incidents,
                  .judge = exit_of_incidents,
                  .shape = {"incidents", [](const boost::json::value& shown) {
                              return names_in(shown, "incidents", "id");
                            }}};
  return read(call, std::move(reading));
}

Exit run_ack(const Call& call) {
  std::string number = call.value("INCIDENT");
  if (number.starts_with('#')) number.erase(0, 1);
  if (!parse_number<std::int64_t>(number)) {
    return complain(call, Exit::kUsage, "INCIDENT: write its number, for example 17");
  }
  Order order{.path = "/api/v1/incidents/" + number + "/ack", .draw = draw_incident};
  order.body["comment"] = call.value("comment");
  return give(call, std::move(order));
}

}  // namespace wardmote::cli
