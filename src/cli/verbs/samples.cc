#include <boost/json/value.hpp>
#include <utility>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/reading.h"
#include "cli/render/samples.h"
#include "cli/url_query.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {

Exit run_samples(const Call& call) {
  Reading reading{
      .path = "/api/v1/samples",
      .query = url_query({{"subject", call.value("SUBJECT")}, {"since", call.value("since")}}),
      .draw = draw_samples,
      .judge = [](const boost::json::value&) { return Exit::kGood; },
      .shape = {"series", [](const boost::json::value& shown) {
                  return names_in(shown, "series", "measure");
                }}};
  return read(call, std::move(reading));
}

}  // namespace wardmote::cli
