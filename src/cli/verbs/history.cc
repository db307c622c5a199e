#include <utility>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/reading.h"
#include "cli/render/history.h"
#include "cli/url_query.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_history(const Call& call) {
  Reading reading{.path = "/api/v1/history",
                  .query = url_query({{"since", call.value("since")},
                                      {"subject", call.value("subject")},
                                      {"incident", call.value("incident")},
                                      {"limit", call.value("limit")}}),
                  .draw = draw_history,
                  .judge = [](const boost::json::value&) { return Exit::kGood; },
                  .shape = {"events", [](const boost::json::value& shown) {
                              return names_in(shown, "events", "subject");
                            }}};
  return read(call, std::move(reading));
}

}  // namespace wardmote::cli
